// Functions whose gradients mlc-opt makes and mlc-verify judges (test_gradients.py), for all sizes. Sizes and attributes
// are symbols wherever an operator has them.

!a_1 = tensor<?x1xf32, #mlc.dims<[a, 1]>>
!a_1_c = tensor<?x1x?xf32, #mlc.dims<[a, 1, c]>>
!a_b = tensor<?x?xf32, #mlc.dims<[a, b]>>
!a_b_c = tensor<?x?x?xf32, #mlc.dims<[a, b, c]>>
!a_bxc = tensor<?x?xf32, #mlc.dims<[a, b * c]>>
!a_c_h = tensor<?x?x?xf32, #mlc.dims<[a, c, h]>>
!a_d = tensor<?x?xf32, #mlc.dims<[a, d]>>
!a_e = tensor<?x?xf32, #mlc.dims<[a, e]>>
!axb_c = tensor<?x?xf32, #mlc.dims<[a * b, c]>>
!b = tensor<?xf32, #mlc.dims<[b]>>
!b_4_h = tensor<?x4x?xf32, #mlc.dims<[b, 4, h]>>
!b_5_h = tensor<?x5x?xf32, #mlc.dims<[b, 5, h]>>
!b_6_2xhp1 = tensor<?x6x?xf32, #mlc.dims<[b, 6, 2 * h + 1]>>
!b_6_h = tensor<?x6x?xf32, #mlc.dims<[b, 6, h]>>
!b_c_2l = tensor<?x?x?xf32, #mlc.dims<[b, c, 2 * l]>>
!b_c_2xh = tensor<?x?x?xf32, #mlc.dims<[b, c, 2 * h]>>
!b_c_2xhp1 = tensor<?x?x?xf32, #mlc.dims<[b, c, 2 * h + 1]>>
!b_c_2xhp1_w = tensor<?x?x?x?xf32, #mlc.dims<[b, c, 2 * h + 1, w]>>
!b_c_h = tensor<?x?x?xf32, #mlc.dims<[b, c, h]>>
!b_c_hmkp1 = tensor<?x?x?xf32, #mlc.dims<[b, c, h - k + 1]>>
!b_c_hp1 = tensor<?x?x?xf32, #mlc.dims<[b, c, h + 1]>>
!b_c_hp1_w = tensor<?x?x?x?xf32, #mlc.dims<[b, c, h + 1, w]>>
!b_c_hp2 = tensor<?x?x?xf32, #mlc.dims<[b, c, h + 2]>>
!b_d = tensor<?x?xf32, #mlc.dims<[b, d]>>
!b_e = tensor<?x?xf32, #mlc.dims<[b, e]>>
!b_k_n = tensor<?x?x?xf32, #mlc.dims<[b, k, n]>>
!b_m_k = tensor<?x?x?xf32, #mlc.dims<[b, m, k]>>
!b_m_n = tensor<?x?x?xf32, #mlc.dims<[b, m, n]>>
!b_n = tensor<?x?xf32, #mlc.dims<[b, n]>>
!b_o_2l = tensor<?x?x?xf32, #mlc.dims<[b, o, 2 * l]>>
!b_o_floordhpppqmdxkm1m1sp1 = tensor<?x?x?xf32, #mlc.dims<[b, o, floordiv(h + p + q - d * (k - 1) - 1, s) + 1]>>
!b_o_h = tensor<?x?x?xf32, #mlc.dims<[b, o, h]>>
!b_o_hp1 = tensor<?x?x?xf32, #mlc.dims<[b, o, h + 1]>>
!b_o_hp1_wm1 = tensor<?x?x?x?xf32, #mlc.dims<[b, o, h + 1, w - 1]>>
!b_o_hp2 = tensor<?x?x?xf32, #mlc.dims<[b, o, h + 2]>>
!b_o_hpppqmdxkm1 = tensor<?x?x?xf32, #mlc.dims<[b, o, h + p + q - d * (k - 1)]>>
!b_o_l = tensor<?x?x?xf32, #mlc.dims<[b, o, l]>>
!b_ol = tensor<?x?xf32, #mlc.dims<[b, o * l]>>
!b_p_2l = tensor<?x?x?xf32, #mlc.dims<[b, p, 2 * l]>>
!c = tensor<?xf32, #mlc.dims<[c]>>
!c_a_b = tensor<?x?x?xf32, #mlc.dims<[c, a, b]>>
!c_b = tensor<?x?xf32, #mlc.dims<[c, b]>>
!c_i64 = tensor<?xi64, #mlc.dims<[c]>>
!c_o_3 = tensor<?x?x3xf32, #mlc.dims<[c, o, 3]>>
!d_b = tensor<?x?xf32, #mlc.dims<[d, b]>>
!k = tensor<?xf32, #mlc.dims<[k]>>
!k_n = tensor<?x?xf32, #mlc.dims<[k, n]>>
!m = tensor<?xf32, #mlc.dims<[m]>>
!m_1 = tensor<?x1xf32, #mlc.dims<[m, 1]>>
!m_3xn = tensor<?x?xf32, #mlc.dims<[m, 3 * n]>>
!m_a = tensor<?x?xf32, #mlc.dims<[m, a]>>
!m_apbpc = tensor<?x?xf32, #mlc.dims<[m, a + b + c]>>
!m_b = tensor<?x?xf32, #mlc.dims<[m, b]>>
!m_c = tensor<?x?xf32, #mlc.dims<[m, c]>>
!m_k = tensor<?x?xf32, #mlc.dims<[m, k]>>
!m_n = tensor<?x?xf32, #mlc.dims<[m, n]>>
!m_o = tensor<?x?xf32, #mlc.dims<[m, o]>>
!mp3 = tensor<?xf32, #mlc.dims<[m + 3]>>
!mpa_npbpc = tensor<?x?xf32, #mlc.dims<[m + a, n + b + c]>>
!n = tensor<?xf32, #mlc.dims<[n]>>
!n_f16 = tensor<?xf16, #mlc.dims<[n]>>
!n_f64 = tensor<?xf64, #mlc.dims<[n]>>
!n_i1 = tensor<?xi1, #mlc.dims<[n]>>
!n_k = tensor<?x?xf32, #mlc.dims<[n, k]>>
!n_o = tensor<?x?xf32, #mlc.dims<[n, o]>>
!o_c_3 = tensor<?x?x3xf32, #mlc.dims<[o, c, 3]>>
!o_c_3_2 = tensor<?x?x3x2xf32, #mlc.dims<[o, c, 3, 2]>>
!o_c_k = tensor<?x?x?xf32, #mlc.dims<[o, c, k]>>
!ol_n = tensor<?x?xf32, #mlc.dims<[o * l, n]>>
!p_o_3 = tensor<?x?x3xf32, #mlc.dims<[p, o, 3]>>
!t1_1_2xh = tensor<1x1x?xf32, #mlc.dims<[1, 1, 2 * h]>>
!t1_1_h = tensor<1x1x?xf32, #mlc.dims<[1, 1, h]>>
!t1_b_1 = tensor<1x?x1xf32, #mlc.dims<[1, b, 1]>>
!t1_n = tensor<1x?xf32, #mlc.dims<[1, n]>>
!t1_o = tensor<1x?xf32, #mlc.dims<[1, o]>>
!t1_o_1 = tensor<1x?x1xf32, #mlc.dims<[1, o, 1]>>
!t4_3_3 = tensor<4x3x3xf32>
!t5_1_3 = tensor<5x1x3xf32>
!t6_2_3 = tensor<6x2x3xf32>

func.func @neg(%x: !n) -> !n {
  %0 = mlc.neg %x : (!n) -> !n
  return %0 : !n
}

func.func @abs(%x: !n) -> !n {
  %0 = mlc.abs %x : (!n) -> !n
  return %0 : !n
}

func.func @exp(%x: !n) -> !n {
  %0 = mlc.exp %x : (!n) -> !n
  return %0 : !n
}

func.func @log(%x: !n) -> !n {
  %0 = mlc.log %x : (!n) -> !n
  return %0 : !n
}

func.func @sqrt(%x: !n) -> !n {
  %0 = mlc.sqrt %x : (!n) -> !n
  return %0 : !n
}

func.func @reciprocal(%x: !n) -> !n {
  %0 = mlc.reciprocal %x : (!n) -> !n
  return %0 : !n
}

func.func @tanh(%x: !n) -> !n {
  %0 = mlc.tanh %x : (!n) -> !n
  return %0 : !n
}

func.func @erf(%x: !n) -> !n {
  %0 = mlc.erf %x : (!n) -> !n
  return %0 : !n
}

func.func @sin(%x: !n) -> !n {
  %0 = mlc.sin %x : (!n) -> !n
  return %0 : !n
}

func.func @cos(%x: !n) -> !n {
  %0 = mlc.cos %x : (!n) -> !n
  return %0 : !n
}

func.func @floor(%x: !n) -> !n {
  %0 = mlc.floor %x : (!n) -> !n
  return %0 : !n
}

func.func @ceil(%x: !n) -> !n {
  %0 = mlc.ceil %x : (!n) -> !n
  return %0 : !n
}

func.func @round_even(%x: !n) -> !n {
  %0 = mlc.round_even %x : (!n) -> !n
  return %0 : !n
}

func.func @sigmoid(%x: !n) -> !n {
  %0 = mlc.sigmoid %x : (!n) -> !n
  return %0 : !n
}

func.func @relu(%x: !n) -> !n {
  %0 = mlc.relu %x : (!n) -> !n
  return %0 : !n
}

func.func @sign(%x: !n) -> !n {
  %0 = mlc.sign %x : (!n) -> !n
  return %0 : !n
}

func.func @leaky_relu(%x: !n) -> !n {
  %0 = mlc.leaky_relu %x {alpha = #mlc.real<"alpha">} : (!n) -> !n
  return %0 : !n
}

func.func @elu(%x: !n) -> !n {
  %0 = mlc.elu %x {alpha = #mlc.real<"alpha">} : (!n) -> !n
  return %0 : !n
}

func.func @hard_sigmoid(%x: !n) -> !n {
  %0 = mlc.hard_sigmoid %x {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (!n) -> !n
  return %0 : !n
}

func.func @clip(%x: !n) -> !n {
  %0 = mlc.clip %x {min = #mlc.real<-1.0>, max = #mlc.real<2.0>} : (!n) -> !n
  return %0 : !n
}

func.func @add(%x: !n, %y: !n) -> !n {
  %0 = mlc.add %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @sub(%x: !n, %y: !n) -> !n {
  %0 = mlc.sub %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @mul(%x: !n, %y: !n) -> !n {
  %0 = mlc.mul %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @div(%x: !n, %y: !n) -> !n {
  %0 = mlc.div %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @min(%x: !n, %y: !n) -> !n {
  %0 = mlc.min %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @max(%x: !n, %y: !n) -> !n {
  %0 = mlc.max %x, %y : (!n, !n) -> !n
  return %0 : !n
}

// Other powers of what is not positive have no derivative by the exponent.
func.func @pow(%x: !n {mlc.assume = ["positive"]}, %y: !n) -> !n {
  %0 = mlc.pow %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @square(%x: !n) -> !n {
  %0 = mlc.mul %x, %x : (!n, !n) -> !n
  return %0 : !n
}

func.func @max_of_itself(%x: !n) -> !n {
  %0 = mlc.max %x, %x : (!n, !n) -> !n
  return %0 : !n
}

func.func @select(%c: !n_i1, %x: !n, %y: !n) -> !n {
  %0 = mlc.select %c, %x, %y : (!n_i1, !n, !n) -> !n
  return %0 : !n
}

// Without its numbers.
func.func @gelu(%x: !n) -> !n {
  %0 = mlc.erf %x : (!n) -> !n
  %1 = mlc.mul %x, %0 : (!n, !n) -> !n
  %2 = mlc.add %1, %x : (!n, !n) -> !n
  return %2 : !n
}

func.func @silu(%x: !n) -> !n {
  %0 = mlc.sigmoid %x : (!n) -> !n
  %1 = mlc.mul %x, %0 : (!n, !n) -> !n
  return %1 : !n
}

func.func @matmul(%a: !m_k, %b: !k_n) -> !m_n {
  %0 = mlc.matmul %a, %b : (!m_k, !k_n) -> !m_n
  return %0 : !m_n
}

func.func @matmul_batched(%a: !b_m_k, %b: !b_k_n) -> !b_m_n {
  %0 = mlc.matmul %a, %b : (!b_m_k, !b_k_n) -> !b_m_n
  return %0 : !b_m_n
}

func.func @layer(%x: !m_k, %w: !k_n, %b: !t1_n) -> !m_n {
  %0 = mlc.matmul %x, %w : (!m_k, !k_n) -> !m_n
  %1 = mlc.broadcast %b {dims = #mlc.dims<[m, n]>} : (!t1_n) -> !m_n
  %2 = mlc.add %0, %1 : (!m_n, !m_n) -> !m_n
  %3 = mlc.relu %2 : (!m_n) -> !m_n
  return %3 : !m_n
}

func.func @two_layers(%x: !m_k, %v: !k_n, %w: !n_o) -> !m_o {
  %0 = mlc.matmul %x, %v : (!m_k, !k_n) -> !m_n
  %1 = mlc.tanh %0 : (!m_n) -> !m_n
  %2 = mlc.matmul %1, %w : (!m_n, !n_o) -> !m_o
  return %2 : !m_o
}

// That a result is not empty: the gradient of the weight is a convolution by the cotangent.
func.func @conv(%x: !b_c_h, %w: !o_c_3) -> !b_o_h attributes {mlc.assume = ["h >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_h, !o_c_3) -> !b_o_h
  return %0 : !b_o_h
}

func.func @conv_strided(%x: !b_c_2xhp1, %w: !o_c_3) -> !b_o_hp1 {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_2xhp1, !o_c_3) -> !b_o_hp1
  return %0 : !b_o_hp1
}

func.func @conv_dilated(%x: !b_c_h, %w: !o_c_3) -> !b_o_h attributes {mlc.assume = ["h >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[2, 2]>, dilations = #mlc.dims<[2]>, groups = #mlc.int<1>} : (!b_c_h, !o_c_3) -> !b_o_h
  return %0 : !b_o_h
}

func.func @conv_one_side(%x: !b_c_hp2, %w: !o_c_3) -> !b_o_hp1 {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_hp2, !o_c_3) -> !b_o_hp1
  return %0 : !b_o_hp1
}

func.func @conv_grouped(%x: !b_4_h, %w: !t6_2_3) -> !b_6_h {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<2>} : (!b_4_h, !t6_2_3) -> !b_6_h
  return %0 : !b_6_h
}

func.func @conv_depthwise(%x: !b_5_h, %w: !t5_1_3) -> !b_5_h {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<5>} : (!b_5_h, !t5_1_3) -> !b_5_h
  return %0 : !b_5_h
}

func.func @conv_2d(%x: !b_c_2xhp1_w, %w: !o_c_3_2) -> !b_o_hp1_wm1 attributes {mlc.assume = ["w >= 2"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<1>} : (!b_c_2xhp1_w, !o_c_3_2) -> !b_o_hp1_wm1
  return %0 : !b_o_hp1_wm1
}

// Pads, dilation and kernel are any.
func.func @conv_any(%x: !b_c_h, %w: !o_c_k) -> !b_o_hpppqmdxkm1 attributes {mlc.assume = ["d >= 1", "k >= 1", "h + p + q >= d * (k - 1) + 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!b_c_h, !o_c_k) -> !b_o_hpppqmdxkm1
  return %0 : !b_o_hpppqmdxkm1
}

func.func @conv_any_stride(%x: !b_c_h, %w: !o_c_k) -> !b_o_floordhpppqmdxkm1m1sp1 attributes {mlc.assume = ["s >= 1", "d >= 1", "k >= 1", "h + p + q >= d * (k - 1) + 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!b_c_h, !o_c_k) -> !b_o_floordhpppqmdxkm1m1sp1
  return %0 : !b_o_floordhpppqmdxkm1m1sp1
}

func.func @conv_transpose(%x: !b_c_h, %w: !c_o_3) -> !b_o_hp2 attributes {mlc.assume = ["h >= 1"]} {
  %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[0]>, groups = #mlc.int<1>} : (!b_c_h, !c_o_3) -> !b_o_hp2
  return %0 : !b_o_hp2
}

func.func @conv_transpose_strided(%x: !b_4_h, %w: !t4_3_3) -> !b_6_2xhp1 {
  %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 0]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[1]>, groups = #mlc.int<2>} : (!b_4_h, !t4_3_3) -> !b_6_2xhp1
  return %0 : !b_6_2xhp1
}

func.func @conv_biased(%x: !b_c_h, %w: !o_c_3, %c: !t1_o_1) -> !b_o_h attributes {mlc.assume = ["h >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_h, !o_c_3) -> !b_o_h
  %1 = mlc.broadcast %c {dims = #mlc.dims<[b, o, h]>} : (!t1_o_1) -> !b_o_h
  %2 = mlc.add %0, %1 : (!b_o_h, !b_o_h) -> !b_o_h
  %3 = mlc.relu %2 : (!b_o_h) -> !b_o_h
  return %3 : !b_o_h
}

func.func @avg_pool(%x: !b_c_2xh) -> !b_c_h {
  %0 = mlc.avg_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!b_c_2xh) -> !b_c_h
  return %0 : !b_c_h
}

func.func @avg_pool_padded(%x: !b_c_2xhp1) -> !b_c_hp1 {
  %0 = mlc.avg_pool %x {kernel = #mlc.dims<[3]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!b_c_2xhp1) -> !b_c_hp1
  return %0 : !b_c_hp1
}

func.func @avg_pool_counted(%x: !b_c_2xhp1) -> !b_c_hp1 {
  %0 = mlc.avg_pool %x {kernel = #mlc.dims<[3]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!b_c_2xhp1) -> !b_c_hp1
  return %0 : !b_c_hp1
}

func.func @avg_pool_2d(%x: !b_c_2xhp1_w) -> !b_c_hp1_w {
  %0 = mlc.avg_pool %x {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>, count_include_pad = true} : (!b_c_2xhp1_w) -> !b_c_hp1_w
  return %0 : !b_c_hp1_w
}

func.func @avg_pool_any(%x: !b_c_h) -> !b_c_hmkp1 attributes {mlc.assume = ["k >= 1", "h >= k"]} {
  %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!b_c_h) -> !b_c_hmkp1
  return %0 : !b_c_hmkp1
}

func.func @max_pool(%x: !b_c_2xh) -> !b_c_h {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!b_c_2xh) -> !b_c_h
  return %0 : !b_c_h
}

func.func @max_pool_padded(%x: !b_c_2xhp1) -> !b_c_hp1 {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[3]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!b_c_2xhp1) -> !b_c_hp1
  return %0 : !b_c_hp1
}

func.func @max_pool_2d(%x: !b_c_2xhp1_w) -> !b_c_hp1_w {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (!b_c_2xhp1_w) -> !b_c_hp1_w
  return %0 : !b_c_hp1_w
}

func.func @max_pool_any(%x: !b_c_h) -> !b_c_hmkp1 attributes {mlc.assume = ["k >= 1", "h >= k"]} {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!b_c_h) -> !b_c_hmkp1
  return %0 : !b_c_hmkp1
}

func.func @concat(%x: !m_a, %y: !m_b, %z: !m_c) -> !m_apbpc {
  %0 = mlc.concat %x, %y, %z {axis = 1 : i64} : (!m_a, !m_b, !m_c) -> !m_apbpc
  return %0 : !m_apbpc
}

func.func @slice(%x: !m_3xn) -> !m_n {
  %0 = mlc.slice %x {starts = #mlc.dims<[0, 1]>, sizes = #mlc.dims<[m, n]>, steps = #mlc.dims<[1, 3]>} : (!m_3xn) -> !m_n
  return %0 : !m_n
}

func.func @slice_any(%x: !m) -> !n attributes {mlc.assume = ["a >= 0", "a + n <= m"]} {
  %0 = mlc.slice %x {starts = #mlc.dims<[a]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!m) -> !n
  return %0 : !n
}

func.func @pad(%x: !m_n) -> !mpa_npbpc attributes {mlc.assume = ["a >= 0", "b >= 0", "c >= 0"]} {
  %0 = mlc.pad %x {low = #mlc.dims<[0, b]>, high = #mlc.dims<[a, c]>, mode = "constant", value = #mlc.real<0.5>} : (!m_n) -> !mpa_npbpc
  return %0 : !mpa_npbpc
}

func.func @pad_edge(%x: !m) -> !mp3 attributes {mlc.assume = ["m >= 1"]} {
  %0 = mlc.pad %x {low = #mlc.dims<[1]>, high = #mlc.dims<[2]>, mode = "edge", value = #mlc.real<0.0>} : (!m) -> !mp3
  return %0 : !mp3
}

func.func @pad_reflect(%x: !m) -> !mp3 attributes {mlc.assume = ["m >= 3"]} {
  %0 = mlc.pad %x {low = #mlc.dims<[1]>, high = #mlc.dims<[2]>, mode = "reflect", value = #mlc.real<0.0>} : (!m) -> !mp3
  return %0 : !mp3
}

func.func @transpose(%x: !a_b_c) -> !c_a_b {
  %0 = mlc.transpose %x {permutation = array<i64: 2, 0, 1>} : (!a_b_c) -> !c_a_b
  return %0 : !c_a_b
}

func.func @reshape(%x: !a_b_c) -> !a_bxc {
  %0 = mlc.reshape %x {dims = #mlc.dims<[a, b * c]>} : (!a_b_c) -> !a_bxc
  return %0 : !a_bxc
}

func.func @reshape_apart(%x: !axb_c) -> !a_b_c attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.reshape %x {dims = #mlc.dims<[a, b, c]>} : (!axb_c) -> !a_b_c
  return %0 : !a_b_c
}

func.func @broadcast(%x: !a_1_c) -> !a_b_c {
  %0 = mlc.broadcast %x {dims = #mlc.dims<[a, b, c]>} : (!a_1_c) -> !a_b_c
  return %0 : !a_b_c
}

func.func @reverse(%x: !a_b) -> !a_b {
  %0 = mlc.reverse %x {axes = array<i64: 1>} : (!a_b) -> !a_b
  return %0 : !a_b
}

func.func @gather(%x: !a_b, %i: !c_i64) -> !c_b {
  %0 = mlc.gather %x, %i {axis = 0 : i64} : (!a_b, !c_i64) -> !c_b
  return %0 : !c_b
}

func.func @reduce_sum(%x: !a_b) -> !a_1 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!a_b) -> !a_1
  return %0 : !a_1
}

func.func @reduce_mean(%x: !a_b) -> !a_1 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.reduce %x {kind = "mean", axes = array<i64: 1>} : (!a_b) -> !a_1
  return %0 : !a_1
}

func.func @reduce_prod(%x: !a_b) -> !a_1 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.reduce %x {kind = "prod", axes = array<i64: 1>} : (!a_b) -> !a_1
  return %0 : !a_1
}

func.func @reduce_max(%x: !a_b) -> !a_1 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!a_b) -> !a_1
  return %0 : !a_1
}

func.func @reduce_min(%x: !a_b) -> !a_1 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.reduce %x {kind = "min", axes = array<i64: 1>} : (!a_b) -> !a_1
  return %0 : !a_1
}

func.func @reduce_sum_all(%x: !a_b_c) -> !t1_b_1 {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0, 2>} : (!a_b_c) -> !t1_b_1
  return %0 : !t1_b_1
}

func.func @cumsum(%x: !a_b) -> !a_b {
  %0 = mlc.cumsum %x {axis = 1 : i64, exclusive = false, reverse = false} : (!a_b) -> !a_b
  return %0 : !a_b
}

func.func @softmax(%x: !a_b) -> !a_b {
  %0 = mlc.softmax %x {axis = 1 : i64} : (!a_b) -> !a_b
  return %0 : !a_b
}

func.func @log_softmax(%x: !a_b) -> !a_b {
  %0 = mlc.log_softmax %x {axis = 1 : i64} : (!a_b) -> !a_b
  return %0 : !a_b
}

func.func @layer_norm(%x: !a_b, %s: !b, %t: !b) -> !a_b attributes {mlc.assume = ["a >= 1"]} {
  %0 = mlc.layer_norm %x, %s, %t {axis = 1 : i64, epsilon = #mlc.real<0.001>} : (!a_b, !b, !b) -> !a_b
  return %0 : !a_b
}

func.func @batch_norm(%x: !a_c_h, %s: !c, %t: !c, %mean: !c, %var: !c {mlc.assume = ["non-negative"]}) -> !a_c_h {
  %0 = mlc.batch_norm %x, %s, %t, %mean, %var {epsilon = #mlc.real<0.001>} : (!a_c_h, !c, !c, !c, !c) -> !a_c_h
  return %0 : !a_c_h
}

func.func @lrn(%x: !a_c_h) -> !a_c_h {
  %0 = mlc.lrn %x {size = #mlc.int<3>, alpha = #mlc.real<0.1>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>} : (!a_c_h) -> !a_c_h
  return %0 : !a_c_h
}

func.func @attention(%q: !a_d, %k: !b_d, %v: !b_e) -> !a_e attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.transpose %k {permutation = array<i64: 1, 0>} : (!b_d) -> !d_b
  %1 = mlc.matmul %q, %0 : (!a_d, !d_b) -> !a_b
  %2 = mlc.softmax %1 {axis = 1 : i64} : (!a_b) -> !a_b
  %3 = mlc.matmul %2, %v : (!a_b, !b_e) -> !a_e
  return %3 : !a_e
}

func.func @two_results(%x: !n, %y: !n) -> (!n, !n) {
  %0 = mlc.mul %x, %y : (!n, !n) -> !n
  %1 = mlc.exp %x : (!n) -> !n
  return %0, %1 : !n, !n
}

func.func @cast(%x: !n) -> !n_f64 {
  %0 = mlc.cast %x {to = f64} : (!n) -> !n_f64
  return %0 : !n_f64
}

func.func @cast_narrowing(%x: !n) -> !n_f16 {
  %0 = mlc.cast %x {to = f16} : (!n) -> !n_f16
  return %0 : !n_f16
}

func.func @resize(%x: !t1_1_h) -> !t1_1_2xh attributes {mlc.assume = ["h >= 1"]} {
  %0 = mlc.resize %x {dims = #mlc.dims<[1, 1, 2 * h]>, mode = "linear", transform = "half_pixel", nearest_mode = "round_prefer_floor", scales = []} : (!t1_1_h) -> !t1_1_2xh
  return %0 : !t1_1_2xh
}

// Several layers.
func.func @cross_entropy(%x: !m_k, %v: !k_n, %w: !n_o, %b: !t1_o, %t: !m_o) -> !m_1 attributes {mlc.assume = ["o >= 1"]} {
  %0 = mlc.matmul %x, %v : (!m_k, !k_n) -> !m_n
  %1 = mlc.relu %0 : (!m_n) -> !m_n
  %2 = mlc.matmul %1, %w : (!m_n, !n_o) -> !m_o
  %3 = mlc.broadcast %b {dims = #mlc.dims<[m, o]>} : (!t1_o) -> !m_o
  %4 = mlc.add %2, %3 : (!m_o, !m_o) -> !m_o
  %5 = mlc.log_softmax %4 {axis = 1 : i64} : (!m_o) -> !m_o
  %6 = mlc.mul %5, %t : (!m_o, !m_o) -> !m_o
  %7 = mlc.reduce %6 {kind = "sum", axes = array<i64: 1>} : (!m_o) -> !m_1
  return %7 : !m_1
}

func.func @convnet(%x: !b_c_2l, %w: !o_c_3, %v: !ol_n) -> !b_n attributes {mlc.assume = ["l >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_2l, !o_c_3) -> !b_o_2l
  %1 = mlc.relu %0 : (!b_o_2l) -> !b_o_2l
  %2 = mlc.max_pool %1 {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!b_o_2l) -> !b_o_l
  %3 = mlc.reshape %2 {dims = #mlc.dims<[b, o * l]>} : (!b_o_l) -> !b_ol
  %4 = mlc.matmul %3, %v : (!b_ol, !ol_n) -> !b_n
  return %4 : !b_n
}

func.func @block(%x: !m_k, %s: !k, %t: !k, %v: !k_n, %w: !n_k) -> !m_k attributes {mlc.assume = ["m >= 1", "k >= 1"]} {
  %0 = mlc.layer_norm %x, %s, %t {axis = 1 : i64, epsilon = #mlc.real<0.001>} : (!m_k, !k, !k) -> !m_k
  %1 = mlc.matmul %0, %v : (!m_k, !k_n) -> !m_n
  %2 = mlc.sigmoid %1 : (!m_n) -> !m_n
  %3 = mlc.mul %1, %2 : (!m_n, !m_n) -> !m_n
  %4 = mlc.matmul %3, %w : (!m_n, !n_k) -> !m_k
  %5 = mlc.add %4, %x : (!m_k, !m_k) -> !m_k
  return %5 : !m_k
}

func.func @conv_pool(%x: !b_c_2l, %w: !o_c_3) -> !b_o_l attributes {mlc.assume = ["l >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_2l, !o_c_3) -> !b_o_2l
  %1 = mlc.relu %0 : (!b_o_2l) -> !b_o_2l
  %2 = mlc.max_pool %1 {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!b_o_2l) -> !b_o_l
  return %2 : !b_o_l
}

func.func @conv_conv(%x: !b_c_2l, %w: !o_c_3, %v: !p_o_3) -> !b_p_2l attributes {mlc.assume = ["l >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_2l, !o_c_3) -> !b_o_2l
  %1 = mlc.relu %0 : (!b_o_2l) -> !b_o_2l
  %2 = mlc.conv %1, %v {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_o_2l, !p_o_3) -> !b_p_2l
  return %2 : !b_p_2l
}
