// Functions and gradients of theirs that are written by hand. test_gradients.py has them proved, and makes mistakes in
// them, which are refuted.

!a_1_c = tensor<?x1x?xf32, #mlc.dims<[a, 1, c]>>
!a_b_c = tensor<?x?x?xf32, #mlc.dims<[a, b, c]>>
!a_bxc = tensor<?x?xf32, #mlc.dims<[a, b * c]>>
!a_c_h = tensor<?x?x?xf32, #mlc.dims<[a, c, h]>>
!b_2xh = tensor<?x?xf32, #mlc.dims<[b, 2 * h]>>
!b_4_h = tensor<?x4x?xf32, #mlc.dims<[b, 4, h]>>
!b_6_hp1 = tensor<?x6x?xf32, #mlc.dims<[b, 6, h + 1]>>
!b_c_2xh = tensor<?x?x?xf32, #mlc.dims<[b, c, 2 * h]>>
!b_c_2xhp1 = tensor<?x?x?xf32, #mlc.dims<[b, c, 2 * h + 1]>>
!b_c_h = tensor<?x?x?xf32, #mlc.dims<[b, c, h]>>
!b_c_hp2 = tensor<?x?x?xf32, #mlc.dims<[b, c, h + 2]>>
!b_h = tensor<?x?xf32, #mlc.dims<[b, h]>>
!b_o_hp1 = tensor<?x?x?xf32, #mlc.dims<[b, o, h + 1]>>
!b_o_hp2 = tensor<?x?x?xf32, #mlc.dims<[b, o, h + 2]>>
!c = tensor<?xf32, #mlc.dims<[c]>>
!c_a_b = tensor<?x?x?xf32, #mlc.dims<[c, a, b]>>
!k_m = tensor<?x?xf32, #mlc.dims<[k, m]>>
!k_n = tensor<?x?xf32, #mlc.dims<[k, n]>>
!m_1 = tensor<?x1xf32, #mlc.dims<[m, 1]>>
!m_a = tensor<?x?xf32, #mlc.dims<[m, a]>>
!m_apb = tensor<?x?xf32, #mlc.dims<[m, a + b]>>
!m_b = tensor<?x?xf32, #mlc.dims<[m, b]>>
!m_i64 = tensor<?xi64, #mlc.dims<[m]>>
!m_k = tensor<?x?xf32, #mlc.dims<[m, k]>>
!m_n = tensor<?x?xf32, #mlc.dims<[m, n]>>
!n = tensor<?xf32, #mlc.dims<[n]>>
!n_k = tensor<?x?xf32, #mlc.dims<[n, k]>>
!npapb = tensor<?xf32, #mlc.dims<[n + a + b]>>
!o_c_3 = tensor<?x?x3xf32, #mlc.dims<[o, c, 3]>>
!t3xn = tensor<?xf32, #mlc.dims<[3 * n]>>
!t6_2_3 = tensor<6x2x3xf32>
!v_n = tensor<?x?xf32, #mlc.dims<[v, n]>>

func.func @neg(%x: !n) -> !n {
  %0 = mlc.neg %x : (!n) -> !n
  return %0 : !n
}

func.func @neg_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = -dy[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @abs(%x: !n) -> !n {
  %0 = mlc.abs %x : (!n) -> !n
  return %0 : !n
}

func.func @abs_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * select(x[i] < 0, -1, select(x[i] > 0, 1, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @exp(%x: !n) -> !n {
  %0 = mlc.exp %x : (!n) -> !n
  return %0 : !n
}

func.func @exp_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * exp(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @log(%x: !n) -> !n {
  %0 = mlc.log %x : (!n) -> !n
  return %0 : !n
}

func.func @log_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] / x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @sqrt(%x: !n) -> !n {
  %0 = mlc.sqrt %x : (!n) -> !n
  return %0 : !n
}

func.func @sqrt_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] / sqrt(x[i]) / 2", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @reciprocal(%x: !n) -> !n {
  %0 = mlc.reciprocal %x : (!n) -> !n
  return %0 : !n
}

func.func @reciprocal_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = -dy[i] / (x[i] * x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @tanh(%x: !n) -> !n {
  %0 = mlc.tanh %x : (!n) -> !n
  return %0 : !n
}

func.func @tanh_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * (1 - tanh(x[i]) * tanh(x[i]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @sin(%x: !n) -> !n {
  %0 = mlc.sin %x : (!n) -> !n
  return %0 : !n
}

func.func @sin_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * cos(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @cos(%x: !n) -> !n {
  %0 = mlc.cos %x : (!n) -> !n
  return %0 : !n
}

func.func @cos_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = -dy[i] * sin(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @relu(%x: !n) -> !n {
  %0 = mlc.relu %x : (!n) -> !n
  return %0 : !n
}

func.func @relu_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = select(x[i] > 0, dy[i], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @leaky_relu(%x: !n) -> !n {
  %0 = mlc.leaky_relu %x {alpha = #mlc.real<0.25>} : (!n) -> !n
  return %0 : !n
}

func.func @leaky_relu_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = select(x[i] >= 0, dy[i], 0.25 * dy[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @clip_as_selects(%x: !n) -> !n {
  %0 = mlc.clip %x {min = #mlc.real<-1.0>, max = #mlc.real<2.0>} : (!n) -> !n
  return %0 : !n
}

func.func @clip_as_selects_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = select(x[i] > -1, select(x[i] < 2, dy[i], 0), 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @sub(%x: !n, %y: !n) -> !n {
  %0 = mlc.sub %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @sub_gradient(%x: !n, %y: !n, %dy: !n) -> (!n, !n) {
  %0 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = dy[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  %1 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = -dy[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  return %0, %1 : !n, !n
}

func.func @mul(%x: !n, %y: !n) -> !n {
  %0 = mlc.mul %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @mul_gradient(%x: !n, %y: !n, %dy: !n) -> (!n, !n) {
  %0 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = dy[i] * y[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  %1 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = dy[i] * x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  return %0, %1 : !n, !n
}

func.func @div(%x: !n, %y: !n) -> !n {
  %0 = mlc.div %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @div_gradient(%x: !n, %y: !n, %dy: !n) -> (!n, !n) {
  %0 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = dy[i] / y[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  %1 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = -dy[i] * x[i] / (y[i] * y[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  return %0, %1 : !n, !n
}

func.func @max(%x: !n, %y: !n) -> !n {
  %0 = mlc.max %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @max_gradient(%x: !n, %y: !n, %dy: !n) -> (!n, !n) {
  %0 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = select(x[i] >= y[i], dy[i], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  %1 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = select(x[i] < y[i], dy[i], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  return %0, %1 : !n, !n
}

func.func @min(%x: !n, %y: !n) -> !n {
  %0 = mlc.min %x, %y : (!n, !n) -> !n
  return %0 : !n
}

func.func @min_gradient(%x: !n, %y: !n, %dy: !n) -> (!n, !n) {
  %0 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = select(x[i] <= y[i], dy[i], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  %1 = mlc.compute %x, %y, %dy {definition = "(x, y, dy) Y[i] = select(x[i] > y[i], dy[i], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n) -> !n
  return %0, %1 : !n, !n
}

func.func @sigmoid(%x: !n) -> !n {
  %0 = mlc.sigmoid %x : (!n) -> !n
  return %0 : !n
}

func.func @sigmoid_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.sigmoid %x : (!n) -> !n
  %1 = mlc.compute %0, %dy {definition = "(y, dy) Y[i] = dy[i] * y[i] * (1 - y[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %1 : !n
}

func.func @matmul(%a: !m_k, %b: !k_n) -> !m_n {
  %0 = mlc.matmul %a, %b : (!m_k, !k_n) -> !m_n
  return %0 : !m_n
}

func.func @matmul_gradient(%a: !m_k, %b: !k_n, %dy: !m_n) -> (!m_k, !k_n) {
  %0 = mlc.transpose %b {permutation = array<i64: 1, 0>} : (!k_n) -> !n_k
  %1 = mlc.matmul %dy, %0 : (!m_n, !n_k) -> !m_k
  %2 = mlc.transpose %a {permutation = array<i64: 1, 0>} : (!m_k) -> !k_m
  %3 = mlc.matmul %2, %dy : (!k_m, !m_n) -> !k_n
  return %1, %3 : !m_k, !k_n
}

func.func @conv(%x: !b_c_2xhp1, %w: !o_c_3) -> !b_o_hp1 {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!b_c_2xhp1, !o_c_3) -> !b_o_hp1
  return %0 : !b_o_hp1
}

func.func @conv_gradient(%x: !b_c_2xhp1, %w: !o_c_3, %dy: !b_o_hp1) -> (!b_c_2xhp1, !o_c_3) {
  %0 = mlc.compute %w, %dy {definition = "(w, dy; c, o, h) Y[n, u, j] = sum{v < o, r < 3}(select(mod(j + 1 - r, 2) == 0, w<0>[v, u, r] * dy<0>[n, v, floordiv(j + 1 - r, 2)], 0))", dims = #mlc.dims<[b, c, 2 * h + 1]>, integers = #mlc.dims<[c, o, h]>, reals = [], type = f32} : (!o_c_3, !b_o_hp1) -> !b_c_2xhp1
  %1 = mlc.compute %x, %dy {definition = "(x, dy; b, h) Y[v, u, r] = sum{n < b, i < h + 1}(x<0>[n, u, 2 * i + r - 1] * dy<0>[n, v, i])", dims = #mlc.dims<[o, c, 3]>, integers = #mlc.dims<[b, h]>, reals = [], type = f32} : (!b_c_2xhp1, !b_o_hp1) -> !o_c_3
  return %0, %1 : !b_c_2xhp1, !o_c_3
}

// Operators, where there are some.
func.func @conv_dilated(%x: !b_c_hp2, %w: !o_c_3) -> !b_o_hp2 {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[2, 2]>, dilations = #mlc.dims<[2]>, groups = #mlc.int<1>} : (!b_c_hp2, !o_c_3) -> !b_o_hp2
  return %0 : !b_o_hp2
}

func.func @conv_dilated_gradient(%x: !b_c_hp2, %w: !o_c_3, %dy: !b_o_hp2) -> (!b_c_hp2, !o_c_3) {
  %0 = mlc.conv_transpose %dy, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[2, 2]>, dilations = #mlc.dims<[2]>, output_padding = #mlc.dims<[0]>, groups = #mlc.int<1>} : (!b_o_hp2, !o_c_3) -> !b_c_hp2
  %1 = mlc.compute %x, %dy {definition = "(x, dy; b, h) Y[v, u, r] = sum{n < b, i < h + 2}(x<0>[n, u, i + 2 * r - 2] * dy[n, v, i])", dims = #mlc.dims<[o, c, 3]>, integers = #mlc.dims<[b, h]>, reals = [], type = f32} : (!b_c_hp2, !b_o_hp2) -> !o_c_3
  return %0, %1 : !b_c_hp2, !o_c_3
}

// Pads that differ, and groups.
func.func @conv_grouped(%x: !b_4_h, %w: !t6_2_3) -> !b_6_hp1 {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 2]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<2>} : (!b_4_h, !t6_2_3) -> !b_6_hp1
  return %0 : !b_6_hp1
}

func.func @conv_grouped_gradient(%x: !b_4_h, %w: !t6_2_3, %dy: !b_6_hp1) -> (!b_4_h, !t6_2_3) {
  %0 = mlc.conv_transpose %dy, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 2]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[0]>, groups = #mlc.int<2>} : (!b_6_hp1, !t6_2_3) -> !b_4_h
  %1 = mlc.compute %x, %dy {definition = "(x, dy; b, h) Y[v, u, r] = sum{n < b, i < h + 1}(x<0>[n, floordiv(v, 3) * 2 + u, i + r - 1] * dy[n, v, i])", dims = #mlc.dims<[6, 2, 3]>, integers = #mlc.dims<[b, h]>, reals = [], type = f32} : (!b_4_h, !b_6_hp1) -> !t6_2_3
  return %0, %1 : !b_4_h, !t6_2_3
}

func.func @mean(%x: !m_n) -> !m_1 attributes {mlc.assume = ["n >= 1"]} {
  %0 = mlc.reduce %x {kind = "mean", axes = array<i64: 1>} : (!m_n) -> !m_1
  return %0 : !m_1
}

func.func @mean_gradient(%x: !m_n, %dy: !m_1) -> !m_n {
  %0 = mlc.compute %dy {definition = "(dy; n) Y[i, j] = dy[i, 0] / f32(n)", dims = #mlc.dims<[m, n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!m_1) -> !m_n
  return %0 : !m_n
}

func.func @softmax(%x: !m_n) -> !m_n {
  %0 = mlc.softmax %x {axis = 1 : i64} : (!m_n) -> !m_n
  return %0 : !m_n
}

func.func @softmax_gradient(%x: !m_n, %dy: !m_n) -> !m_n {
  %0 = mlc.softmax %x {axis = 1 : i64} : (!m_n) -> !m_n
  %1 = mlc.compute %0, %dy {definition = "(y, dy; n) Y[i, j] = y[i, j] * (dy[i, j] - sum{u < n}(y[i, u] * dy[i, u]))", dims = #mlc.dims<[m, n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!m_n, !m_n) -> !m_n
  return %1 : !m_n
}

// By the softmax, not by what the function gives.
func.func @log_softmax(%x: !m_n) -> !m_n {
  %0 = mlc.log_softmax %x {axis = 1 : i64} : (!m_n) -> !m_n
  return %0 : !m_n
}

func.func @log_softmax_gradient(%x: !m_n, %dy: !m_n) -> !m_n {
  %0 = mlc.softmax %x {axis = 1 : i64} : (!m_n) -> !m_n
  %1 = mlc.compute %0, %dy {definition = "(y, dy; n) Y[i, j] = dy[i, j] - y[i, j] * sum{u < n}(dy[i, u])", dims = #mlc.dims<[m, n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!m_n, !m_n) -> !m_n
  return %1 : !m_n
}

// Where rows are picked twice, their cotangents add up.
func.func @gather_as_sum(%x: !v_n, %i: !m_i64) -> !m_n {
  %0 = mlc.gather %x, %i {axis = 0 : i64} : (!v_n, !m_i64) -> !m_n
  return %0 : !m_n
}

func.func @gather_as_sum_gradient(%x: !v_n, %i: !m_i64, %dy: !m_n) -> !v_n {
  %0 = mlc.compute %i, %dy {definition = "(i, dy; m, v) Y[a, b] = sum{r < m}(select(or(index(i[r]) == a, index(i[r]) + v == a), dy[r, b], 0))", dims = #mlc.dims<[v, n]>, integers = #mlc.dims<[m, v]>, reals = [], type = f32} : (!m_i64, !m_n) -> !v_n
  return %0 : !v_n
}

func.func @avg_pool(%x: !b_c_2xh) -> !b_c_h {
  %0 = mlc.avg_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!b_c_2xh) -> !b_c_h
  return %0 : !b_c_h
}

func.func @avg_pool_gradient(%x: !b_c_2xh, %dy: !b_c_h) -> !b_c_2xh {
  %0 = mlc.compute %dy {definition = "(dy) Y[n, u, j] = dy<0>[n, u, floordiv(j, 2)] / 2", dims = #mlc.dims<[b, c, 2 * h]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!b_c_h) -> !b_c_2xh
  return %0 : !b_c_2xh
}

// The first of two that are equal has it.
func.func @max_pool_as_pairs(%x: !b_c_2xh) -> !b_c_h {
  %0 = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!b_c_2xh) -> !b_c_h
  return %0 : !b_c_h
}

func.func @max_pool_as_pairs_gradient(%x: !b_c_2xh, %dy: !b_c_h) -> !b_c_2xh {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[n, u, j] = select(select(mod(j, 2) == 0, x<0>[n, u, j] >= x<0>[n, u, j + 1], x<0>[n, u, j] > x<0>[n, u, j - 1]), dy<0>[n, u, floordiv(j, 2)], 0)", dims = #mlc.dims<[b, c, 2 * h]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!b_c_2xh, !b_c_h) -> !b_c_2xh
  return %0 : !b_c_2xh
}

func.func @concat(%x: !m_a, %y: !m_b) -> !m_apb {
  %0 = mlc.concat %x, %y {axis = 1 : i64} : (!m_a, !m_b) -> !m_apb
  return %0 : !m_apb
}

func.func @concat_gradient(%x: !m_a, %y: !m_b, %dy: !m_apb) -> (!m_a, !m_b) {
  %0 = mlc.slice %dy {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, a]>, steps = #mlc.dims<[1, 1]>} : (!m_apb) -> !m_a
  %1 = mlc.slice %dy {starts = #mlc.dims<[0, a]>, sizes = #mlc.dims<[m, b]>, steps = #mlc.dims<[1, 1]>} : (!m_apb) -> !m_b
  return %0, %1 : !m_a, !m_b
}

func.func @slice(%x: !t3xn) -> !n {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[3]>} : (!t3xn) -> !n
  return %0 : !n
}

func.func @slice_gradient(%x: !t3xn, %dy: !n) -> !t3xn {
  %0 = mlc.compute %dy {definition = "(dy) Y[i] = select(mod(i, 3) == 1, dy<0>[floordiv(i, 3)], 0)", dims = #mlc.dims<[3 * n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n) -> !t3xn
  return %0 : !t3xn
}

func.func @pad(%x: !n) -> !npapb attributes {mlc.assume = ["a >= 0", "b >= 0"]} {
  %0 = mlc.pad %x {low = #mlc.dims<[a]>, high = #mlc.dims<[b]>, mode = "constant", value = #mlc.real<0.5>} : (!n) -> !npapb
  return %0 : !npapb
}

func.func @pad_gradient(%x: !n, %dy: !npapb) -> !n {
  %0 = mlc.slice %dy {starts = #mlc.dims<[a]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!npapb) -> !n
  return %0 : !n
}

func.func @transpose(%x: !a_b_c) -> !c_a_b {
  %0 = mlc.transpose %x {permutation = array<i64: 2, 0, 1>} : (!a_b_c) -> !c_a_b
  return %0 : !c_a_b
}

func.func @transpose_gradient(%x: !a_b_c, %dy: !c_a_b) -> !a_b_c {
  %0 = mlc.transpose %dy {permutation = array<i64: 1, 2, 0>} : (!c_a_b) -> !a_b_c
  return %0 : !a_b_c
}

func.func @reshape(%x: !a_b_c) -> !a_bxc {
  %0 = mlc.reshape %x {dims = #mlc.dims<[a, b * c]>} : (!a_b_c) -> !a_bxc
  return %0 : !a_bxc
}

func.func @reshape_gradient(%x: !a_b_c, %dy: !a_bxc) -> !a_b_c {
  %0 = mlc.reshape %dy {dims = #mlc.dims<[a, b, c]>} : (!a_bxc) -> !a_b_c
  return %0 : !a_b_c
}

func.func @broadcast(%x: !a_1_c) -> !a_b_c {
  %0 = mlc.broadcast %x {dims = #mlc.dims<[a, b, c]>} : (!a_1_c) -> !a_b_c
  return %0 : !a_b_c
}

func.func @broadcast_gradient(%x: !a_1_c, %dy: !a_b_c) -> !a_1_c {
  %0 = mlc.reduce %dy {kind = "sum", axes = array<i64: 1>} : (!a_b_c) -> !a_1_c
  return %0 : !a_1_c
}

func.func @batch_norm(%x: !a_c_h, %s: !c, %t: !c, %mean: !c, %var: !c {mlc.assume = ["non-negative"]}) -> !a_c_h {
  %0 = mlc.batch_norm %x, %s, %t, %mean, %var {epsilon = #mlc.real<0.125>} : (!a_c_h, !c, !c, !c, !c) -> !a_c_h
  return %0 : !a_c_h
}

func.func @batch_norm_gradient(%x: !a_c_h, %s: !c, %t: !c, %mean: !c, %var: !c, %dy: !a_c_h) -> (!a_c_h, !c, !c, !c, !c) {
  %0 = mlc.compute %s, %var, %dy {definition = "(s, var, dy) Y[n, u, i] = dy[n, u, i] * s[u] / sqrt(var[u] + 0.125)", dims = #mlc.dims<[a, c, h]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c, !a_c_h) -> !a_c_h
  %1 = mlc.compute %x, %mean, %var, %dy {definition = "(x, mean, var, dy; a, h) Y[u] = sum{n < a, i < h}(dy[n, u, i] * (x[n, u, i] - mean[u])) / sqrt(var[u] + 0.125)", dims = #mlc.dims<[c]>, integers = #mlc.dims<[a, h]>, reals = [], type = f32} : (!a_c_h, !c, !c, !a_c_h) -> !c
  %2 = mlc.compute %dy {definition = "(dy; a, h) Y[u] = sum{n < a, i < h}(dy[n, u, i])", dims = #mlc.dims<[c]>, integers = #mlc.dims<[a, h]>, reals = [], type = f32} : (!a_c_h) -> !c
  %3 = mlc.compute %s, %var, %dy {definition = "(s, var, dy; a, h) Y[u] = -sum{n < a, i < h}(dy[n, u, i]) * s[u] / sqrt(var[u] + 0.125)", dims = #mlc.dims<[c]>, integers = #mlc.dims<[a, h]>, reals = [], type = f32} : (!c, !c, !a_c_h) -> !c
  %4 = mlc.compute %x, %s, %mean, %var, %dy {definition = "(x, s, mean, var, dy; a, h) Y[u] = -sum{n < a, i < h}(dy[n, u, i] * (x[n, u, i] - mean[u])) * s[u] / sqrt(var[u] + 0.125) / sqrt(var[u] + 0.125) / sqrt(var[u] + 0.125) / 2", dims = #mlc.dims<[c]>, integers = #mlc.dims<[a, h]>, reals = [], type = f32} : (!a_c_h, !c, !c, !c, !a_c_h) -> !c
  return %0, %1, %2, %3, %4 : !a_c_h, !c, !c, !c, !c
}

func.func @used_twice(%x: !n, %y: !n) -> (!n, !n) {
  %0 = mlc.mul %x, %y : (!n, !n) -> !n
  %1 = mlc.exp %x : (!n) -> !n
  return %0, %1 : !n, !n
}

func.func @used_twice_gradient(%x: !n, %y: !n, %d0: !n, %d1: !n) -> (!n, !n) {
  %0 = mlc.compute %x, %y, %d0, %d1 {definition = "(x, y, d0, d1) Y[i] = d0[i] * y[i] + d1[i] * exp(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n, !n, !n) -> !n
  %1 = mlc.compute %x, %d0 {definition = "(x, d0) Y[i] = d0[i] * x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0, %1 : !n, !n
}

// The order of a maximum's values, and powers of the same.

func.func @as_maximum(%x: !n) -> !n {
  %0 = mlc.compute %x {definition = "(x) Y[i] = max(x[i], -x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n) -> !n
  return %0 : !n
}

func.func @as_maximum_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * select(x[i] >= 0, 1, -1)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @from_minus(%x: !n) -> !n {
  %0 = mlc.compute %x {definition = "(x) Y[i] = max(-x[i], x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n) -> !n
  return %0 : !n
}

func.func @from_minus_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * select(x[i] > 0, 1, -1)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @between(%x: !n) -> !n {
  %0 = mlc.compute %x {definition = "(x) Y[i] = min(max(x[i], -1), 2)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n) -> !n
  return %0 : !n
}

func.func @between_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = select(x[i] > -1, select(x[i] < 2, dy[i], 0), 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @logistic(%x: !n) -> !n {
  %0 = mlc.compute %x {definition = "(x) Y[i] = 1 / (1 + exp(-x[i]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n) -> !n
  return %0 : !n
}

func.func @logistic_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * exp(-x[i]) / ((1 + exp(-x[i])) * (1 + exp(-x[i])))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}

func.func @half_power(%x: !n) -> !n {
  %0 = mlc.compute %x {definition = "(x) Y[i] = pow(x[i], 0.5)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n) -> !n
  return %0 : !n
}

func.func @half_power_gradient(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] / (2 * sqrt(x[i]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}
