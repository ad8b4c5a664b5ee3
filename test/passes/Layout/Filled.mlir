// Channels that do not fill their blocks: what the filling holds never reaches a
// result. Blocked and plain function give the same values.
// RUN: mlc-opt --mlc-assign-layout %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python -c "import numpy; numpy.save('%t.npy', numpy.random.default_rng(1).uniform(1, 2, (1, 20, 3, 5)).astype('f4'))"
// RUN: mlc-eval %s --input=%t.npy --output-dir=%t.plain
// RUN: mlc-eval %t.mlir --input=%t.npy --output-dir=%t.blocked
// RUN: %python -c "import numpy; plain, blocked = (numpy.load('%t.' + kind + '/0.npy') for kind in ('plain', 'blocked')); assert numpy.isfinite(plain).all() and numpy.allclose(plain, blocked, 1e-5), abs(plain - blocked).max()"

// 20 channels fill their second block with zeros; a depthwise convolution
// keeps them apart; a logarithm would make the filling infinite, so that the
// next convolution packs anew.
!f = tensor<1x20x?x5xf32, #mlc.dims<[1, 20, H, 5]>>
// CHECK-LABEL: func.func @main
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"
// CHECK: mlc.laid_out {{.*}}a = 20, b = 1>{{.*}}plain_op = "mlc.conv"
// CHECK: mlc.log {{.*}}x2x?x5x16xf32
// CHECK: mlc.unpack
// CHECK: mlc.pack
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"
func.func @main(%x: !f) -> !f {
  %d = mlc.constant dense<0.5> : tensor<20x1x1x1xf32>
  %w = mlc.constant dense<0.25> : tensor<20x20x1x1xf32>
  %c = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!f, tensor<20x20x1x1xf32>) -> !f
  %0 = mlc.conv %c, %d {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<20>} : (!f, tensor<20x1x1x1xf32>) -> !f
  %1 = mlc.log %0 : (!f) -> !f
  %2 = mlc.conv %1, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!f, tensor<20x20x1x1xf32>) -> !f
  return %2 : !f
}
