// Groups of 34 channels would fill less than half of the products with their
// own channels, so they stay plain, and so does the depthwise convolution
// after the channel shuffle; groups of 28 are blocked.
// RUN: mlc-opt --mlc-assign-layout %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python -c "import numpy; r = numpy.random.default_rng(1); numpy.save('%t.npy', r.uniform(-1, 1, (1, 56, 7, 7)).astype('f4'))"
// RUN: mlc-eval %s --function=blocked --input=%t.npy --output-dir=%t.plain
// RUN: mlc-eval %t.mlir --function=blocked --input=%t.npy --output-dir=%t.blocked
// RUN: %python -c "import numpy; plain, blocked = (numpy.load('%t.' + kind + '/0.npy') for kind in ('plain', 'blocked')); assert numpy.allclose(plain, blocked, 1e-5, 1e-5), abs(plain - blocked).max()"

!x = tensor<1x68x7x7xf32>
// CHECK-LABEL: func.func @plain
// CHECK-NOT: mlc.laid_out
// CHECK-NOT: mlc.pack
// CHECK: return
func.func @plain(%x: !x) -> !x {
  %w = mlc.constant dense<0.25> : tensor<68x34x1x1xf32>
  %d = mlc.constant dense<0.5> : tensor<68x1x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (!x, tensor<68x34x1x1xf32>) -> !x
  %1 = mlc.reshape %0 {dims = #mlc.dims<[1, 2, 34, 7, 7]>} : (!x) -> tensor<1x2x34x7x7xf32>
  %2 = mlc.transpose %1 {permutation = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x34x7x7xf32>) -> tensor<1x34x2x7x7xf32>
  %3 = mlc.reshape %2 {dims = #mlc.dims<[1, 68, 7, 7]>} : (tensor<1x34x2x7x7xf32>) -> !x
  %4 = mlc.conv %3, %d {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<68>} : (!x, tensor<68x1x3x3xf32>) -> !x
  return %4 : !x
}

!y = tensor<1x56x7x7xf32>
// CHECK-LABEL: func.func @blocked
// CHECK: mlc.pack
// CHECK-COUNT-2: mlc.laid_out {{.*}}plain_op = "mlc.conv"
// CHECK: mlc.unpack
func.func @blocked(%x: !y) -> !y {
  %w = mlc.constant dense<0.25> : tensor<56x28x1x1xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (!y, tensor<56x28x1x1xf32>) -> !y
  return %0 : !y
}
