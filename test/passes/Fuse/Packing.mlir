// A contraction packs a factor that is not read along vectors. Where many loops
// read the same of it, as those over images do of weights, it is packed by a
// kernel of its own, once.
// RUN: mlc-opt %s --mlc-lower-to-linalg --mlc-fuse | FileCheck %s
// RUN: %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse

// CHECK: exec.launch @k0(%1)
// CHECK: exec.launch @k1(%0, %{{[2-9]}})
// CHECK: func.func private @k1({{.*}}: tensor<1x1x3x3x16x16xf32>)
func.func @main(%x: tensor<2x1x6x6x16xf32> {mlc.name = "x"}, %w: tensor<16x16x3x3xf32> {mlc.name = "w"}) -> (tensor<2x1x4x4x16xf32> {mlc.name = "y"}) {
  %0 = mlc.pack %w {layout = #mlc.layout<[a div 16, b div 16, c, d, b mod 16, a mod 16], a = 16, b = 16>} : (tensor<16x16x3x3xf32>) -> tensor<1x1x3x3x16x16xf32>
  %1 = mlc.laid_out %x, %0 {plain_op = "mlc.conv", plain_attributes = {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>}, layouts = [#mlc.layout<[a, b div 16, c, d, b mod 16], b = 16>, #mlc.layout<[a div 16, b div 16, c, d, b mod 16, a mod 16], a = 16, b = 16>, #mlc.layout<[a, b div 16, c, d, b mod 16], b = 16>]} : (tensor<2x1x6x6x16xf32>, tensor<1x1x3x3x16x16xf32>) -> tensor<2x1x4x4x16xf32>
  return %1 : tensor<2x1x4x4x16xf32>
}
