// Operators that have no gradient, or other sizes than in test/verifier/gradients/functions.mlir, with symbols for sizes.

!a_b = tensor<?x?xf32, #mlc.dims<[a, b]>>
!a_b_f16 = tensor<?x?xf16, #mlc.dims<[a, b]>>
!a_b_i1 = tensor<?x?xi1, #mlc.dims<[a, b]>>
!a_b_i32 = tensor<?x?xi32, #mlc.dims<[a, b]>>
!a_b_i64 = tensor<?x?xi64, #mlc.dims<[a, b]>>
!a_1_i64 = tensor<?x1xi64, #mlc.dims<[a, 1]>>
!a_2 = tensor<?x2xf32, #mlc.dims<[a, 2]>>
!a_2_i64 = tensor<?x2xi64, #mlc.dims<[a, 2]>>
!a_1_1 = tensor<?x1x1xf32, #mlc.dims<[a, 1, 1]>>
!a_b_c = tensor<?x?x?xf32, #mlc.dims<[a, b, c]>>
!a = tensor<?xf32, #mlc.dims<[a]>>
!c_i64 = tensor<?xi64, #mlc.dims<[c]>>
!c_d_i64 = tensor<?x?xi64, #mlc.dims<[c, d]>>
!a_c_d = tensor<?x?x?xf32, #mlc.dims<[a, c, d]>>
!c_b = tensor<?x?xf32, #mlc.dims<[c, b]>>
!d_c_b = tensor<?x?x?xf32, #mlc.dims<[d, c, b]>>
!b_axc = tensor<?x?xf32, #mlc.dims<[b, a * c]>>
!b_a_c = tensor<?x?x?xf32, #mlc.dims<[b, a, c]>>
!key = tensor<ui64>
!two = tensor<2xi64>
!twof = tensor<2xf32>
!a_24_c = tensor<?x24x?xf32, #mlc.dims<[a, 24, c]>>
!packed = tensor<?x6x?x4xf32, #mlc.dims<[a, 6, c, 4]>>
!packed_w = tensor<3x6x3x4x8xf32>
!packed_y = tensor<?x3x?x8xf32, #mlc.dims<[a, 3, c, 8]>>
!a_4_b = tensor<?x4x?xf32, #mlc.dims<[a, 4, b]>>
!a_4_2xb = tensor<?x4x?xf32, #mlc.dims<[a, 4, 2 * b]>>
!a_gxc_h = tensor<?x?x?xf32, #mlc.dims<[a, g * c, h]>>
!gxo_c_3 = tensor<?x?x3xf32, #mlc.dims<[g * o, c, 3]>>
!a_gxo_h = tensor<?x?x?xf32, #mlc.dims<[a, g * o, h]>>
!gxc_o_3 = tensor<?x?x3xf32, #mlc.dims<[g * c, o, 3]>>
!a_gxo_hp2 = tensor<?x?x?xf32, #mlc.dims<[a, g * o, h + 2]>>
!a_1 = tensor<?x1xf32, #mlc.dims<[a, 1]>>
!b_m_k = tensor<?x?x?xf32, #mlc.dims<[b, m, k]>>

func.func @not(%x: !a_b_i1) -> !a_b_i1 {
  %0 = mlc.not %x : (!a_b_i1) -> !a_b_i1
  return %0 : !a_b_i1
}
func.func @and(%x: !a_b_i1, %y: !a_b_i1) -> !a_b_i1 {
  %0 = mlc.and %x, %y : (!a_b_i1, !a_b_i1) -> !a_b_i1
  return %0 : !a_b_i1
}
func.func @or(%x: !a_b_i1, %y: !a_b_i1) -> !a_b_i1 {
  %0 = mlc.or %x, %y : (!a_b_i1, !a_b_i1) -> !a_b_i1
  return %0 : !a_b_i1
}
func.func @xor(%x: !a_b_i1, %y: !a_b_i1) -> !a_b_i1 {
  %0 = mlc.xor %x, %y : (!a_b_i1, !a_b_i1) -> !a_b_i1
  return %0 : !a_b_i1
}
func.func @mod(%x: !a_b_i32, %y: !a_b_i32 {mlc.assume = ["non-zero"]}) -> !a_b_i32 {
  %0 = mlc.mod %x, %y : (!a_b_i32, !a_b_i32) -> !a_b_i32
  return %0 : !a_b_i32
}
func.func @compare(%x: !a_b, %y: !a_b) -> !a_b_i1 {
  %0 = mlc.compare %x, %y {predicate = "lt"} : (!a_b, !a_b) -> !a_b_i1
  return %0 : !a_b_i1
}
func.func @cast_of_integers(%x: !a_b_i64) -> !a_b {
  %0 = mlc.cast %x {to = f32} : (!a_b_i64) -> !a_b
  return %0 : !a_b
}
func.func @arg_max(%x: !a_b) -> !a_1_i64 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.arg_max %x {axis = 1 : i64} : (!a_b) -> !a_1_i64
  return %0 : !a_1_i64
}
func.func @arg_min(%x: !a_b) -> !a_1_i64 attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.arg_min %x {axis = 1 : i64} : (!a_b) -> !a_1_i64
  return %0 : !a_1_i64
}
func.func @top_k(%x: !a_b) -> (!a_2, !a_2_i64) attributes {mlc.assume = ["b >= 2"]} {
  %0, %1 = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (!a_b) -> (!a_2, !a_2_i64)
  return %0, %1 : !a_2, !a_2_i64
}
func.func @reduce_two(%x: !a_b_c) -> !a_1_1 attributes {mlc.assume = ["b >= 1", "c >= 1"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1, 2>} : (!a_b_c) -> !a_1_1
  return %0 : !a_1_1
}
func.func @cumsum_reverse(%x: !a_b) -> !a_b {
  %0 = mlc.cumsum %x {axis = 1 : i64, exclusive = true, reverse = true} : (!a_b) -> !a_b
  return %0 : !a_b
}
func.func @gather_columns(%x: !a_b, %i: !c_d_i64) -> !a_c_d {
  %0 = mlc.gather %x, %i {axis = 1 : i64} : (!a_b, !c_d_i64) -> !a_c_d
  return %0 : !a_c_d
}
func.func @scatter_add(%x: !a_b, %i: !c_i64, %u: !c_b) -> !a_b {
  %0 = mlc.scatter_add %x, %i, %u {axis = 0 : i64} : (!a_b, !c_i64, !c_b) -> !a_b
  return %0 : !a_b
}
func.func @fill() -> !a_b {
  %0 = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<0.5>, type = f32} : () -> !a_b
  return %0 : !a_b
}
func.func @iota() -> !a_b_i64 {
  %0 = mlc.iota {dims = #mlc.dims<[a, b]>, axis = 1 : i64, start = #mlc.int<2>, step = #mlc.int<3>} : () -> !a_b_i64
  return %0 : !a_b_i64
}
func.func @int_tensor(%x: !a_2_i64) -> !a_2_i64 {
  %i = mlc.int_tensor {values = #mlc.dims<[3, 4]>, dims = #mlc.dims<[2]>} : () -> !two
  %c = mlc.compute %x, %i {definition = "(x, y) Y[i, j] = x[i, j] + y[j]", dims = #mlc.dims<[a, 2]>, integers = #mlc.dims<[]>, reals = [], type = i64} : (!a_2_i64, !two) -> !a_2_i64
  return %c : !a_2_i64
}
func.func @constant(%x: !a_2) -> !a_2 {
  %i = mlc.constant dense<[1.0, 2.0]> : !twof
  %c = mlc.compute %x, %i {definition = "(x, y) Y[i, j] = x[i, j] + y[j]", dims = #mlc.dims<[a, 2]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!a_2, !twof) -> !a_2
  return %c : !a_2
}
func.func @compute(%w: !a_b, %s: !a {mlc.assume = ["positive"]}) -> !a_b {
  %0 = mlc.compute %w, %s {definition = "(w, s; ; eps) Y[o, c] = w[o, c] / sqrt(s[o] + eps)", dims = #mlc.dims<[a, b]>, integers = #mlc.dims<[]>, reals = [#mlc.real<1.0e-03>], type = f32} : (!a_b, !a) -> !a_b
  return %0 : !a_b
}
// A mask and a position, by the coordinate of what is computed.
func.func @compute_causal(%x: !a_b) -> !a_b {
  %0 = mlc.compute %x {definition = "(x) Y[i, j] = select(j <= i, x[i, j], 0.0) + f32(i * 2 + j)", dims = #mlc.dims<[a, b]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!a_b) -> !a_b
  return %0 : !a_b
}
func.func @random_uniform(%k: !key) -> !a_b {
  %0 = mlc.random_uniform %k {dims = #mlc.dims<[a, b]>, seed = 7 : i64, type = f32} : (!key) -> !a_b
  return %0 : !a_b
}
func.func @pack(%x: !a_24_c) -> !packed {
  %0 = mlc.pack %x {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 24>} : (!a_24_c) -> !packed
  return %0 : !packed
}
func.func @unpack(%x: !packed) -> !a_24_c {
  %0 = mlc.unpack %x {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 24>} : (!packed) -> !a_24_c
  return %0 : !a_24_c
}
func.func @laid_out(%x: !packed, %w: !packed_w) -> !packed_y attributes {mlc.assume = ["c >= 1"]} {
  %0 = mlc.laid_out %x, %w {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 24>, #mlc.layout<[a div 8, b div 4, c, b mod 4, a mod 8], a = 24, b = 24>, #mlc.layout<[a, b div 8, c, b mod 8], b = 24>], plain_attributes = {dilations = #mlc.dims<[1]>, groups = #mlc.int<1>, pads = #mlc.dims<[1, 1]>, strides = #mlc.dims<[1]>}, plain_op = "mlc.conv"} : (!packed, !packed_w) -> !packed_y
  return %0 : !packed_y
}
func.func @resize_linear(%x: !a_4_b) -> !a_4_2xb attributes {mlc.assume = ["b >= 1"]} {
  %0 = mlc.resize %x {dims = #mlc.dims<[a, 4, 2 * b]>, mode = "linear", transform = "half_pixel", nearest_mode = "round_prefer_floor", scales = []} : (!a_4_b) -> !a_4_2xb
  return %0 : !a_4_2xb
}
func.func @conv_groups(%x: !a_gxc_h, %w: !gxo_c_3) -> !a_gxo_h attributes {mlc.assume = ["g >= 1", "c >= 1", "o >= 1", "h >= 1"]} {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<g>} : (!a_gxc_h, !gxo_c_3) -> !a_gxo_h
  return %0 : !a_gxo_h
}
func.func @conv_transpose_groups(%x: !a_gxc_h, %w: !gxc_o_3) -> !a_gxo_hp2 attributes {mlc.assume = ["g >= 1", "c >= 1", "o >= 1", "h >= 1"]} {
  %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[0]>, groups = #mlc.int<g>} : (!a_gxc_h, !gxc_o_3) -> !a_gxo_hp2
  return %0 : !a_gxo_hp2
}
func.func @reshape_and_back(%x: !a_b_c) -> !b_axc {
  %0 = mlc.transpose %x {permutation = array<i64: 1, 0, 2>} : (!a_b_c) -> !b_a_c
  %1 = mlc.reshape %0 {dims = #mlc.dims<[b, a * c]>} : (!b_a_c) -> !b_axc
  return %1 : !b_axc
}
