// The same substitution with another layout: channels last, as a GPU wants them.
// A grouped convolution needs no case of its own. Both functions are proved
// equal, or give the same values.
// RUN: mlc-opt --mlc-assign-layout=channels-last %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlc-verify --function=residual %s %t.mlir | FileCheck --check-prefix=PROOF %s
// RUN: %python -c "import numpy; r = numpy.random.default_rng(1); numpy.save('%t.npy', r.uniform(-1, 1, (2, 12, 7, 6)).astype('f4'))"
// RUN: mlc-eval %s --function=others --input=%t.npy --output-dir=%t.plain
// RUN: mlc-eval %t.mlir --function=others --input=%t.npy --output-dir=%t.last
// RUN: %python -c "import numpy; plain, last = (numpy.load('%t.' + kind + '/0.npy') for kind in ('plain', 'last')); assert plain.shape == last.shape and numpy.allclose(plain, last, 1e-5, 1e-5), abs(plain - last).max()"

// PROOF: proved

!x = tensor<?x32x?x?xf32, #mlc.dims<[N, 32, H, W]>>

// CHECK-LABEL: func.func @residual
// CHECK: mlc.pack %{{.*}} {layout = #mlc.layout<[a, c, d, b]>}
// CHECK: mlc.pad {{.*}}high = #mlc.dims<[0, 1, 1, 0]>
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"
// CHECK: mlc.relu {{.*}}x?x?x32xf32
// CHECK: mlc.add {{.*}}x?x?x32xf32
// CHECK-NOT: mlc.pack
// CHECK: mlc.unpack
func.func @residual(%x: !x) -> !x {
  %w = mlc.constant dense<0.25> : tensor<32x32x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<32x32x3x3xf32>) -> !x
  %1 = mlc.relu %0 : (!x) -> !x
  %2 = mlc.add %1, %0 : (!x, !x) -> !x
  return %2 : !x
}

// What lies between convolutions: windows, parts, joins, a bias.
// CHECK-LABEL: func.func @others
// CHECK: mlc.pack
// CHECK-COUNT-6: mlc.laid_out
// CHECK-NOT: mlc.pack
// CHECK: mlc.reshape %{{.*}} {dims = #mlc.dims<[2, 12, 1, 1]>}
!y = tensor<2x12x7x6xf32>
func.func @others(%x: !y) -> tensor<2x12x1x1xf32> {
  %w = mlc.constant dense<[[[[0.5]], [[-0.25]], [[1.0]], [[0.125]]], [[[0.5]], [[-0.25]], [[1.0]], [[0.125]]], [[[0.5]], [[-0.25]], [[1.0]], [[0.125]]], [[[0.5]], [[-0.25]], [[1.0]], [[0.125]]], [[[0.5]], [[-0.25]], [[1.0]], [[0.125]]], [[[2.5]], [[-0.25]], [[1.0]], [[0.125]]]]> : tensor<6x4x1x1xf32>
  %b = mlc.constant dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]]]]> : tensor<1x6x1x1xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<3>} : (!y, tensor<6x4x1x1xf32>) -> tensor<2x6x7x6xf32>
  %1 = mlc.broadcast %b {dims = #mlc.dims<[2, 6, 7, 6]>} : (tensor<1x6x1x1xf32>) -> tensor<2x6x7x6xf32>
  %2 = mlc.add %0, %1 : (tensor<2x6x7x6xf32>, tensor<2x6x7x6xf32>) -> tensor<2x6x7x6xf32>
  %3 = mlc.max_pool %2 {kernel = #mlc.dims<[3, 3]>, ceil_pads = #mlc.dims<[0, 0]>, strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>} : (tensor<2x6x7x6xf32>) -> tensor<2x6x4x3xf32>
  %4 = mlc.slice %3 {starts = #mlc.dims<[0, 0, 1, 0]>, sizes = #mlc.dims<[2, 6, 2, 3]>, steps = #mlc.dims<[1, 1, 1, 1]>} : (tensor<2x6x4x3xf32>) -> tensor<2x6x2x3xf32>
  %5 = mlc.concat %4, %4 {axis = 1 : i64} : (tensor<2x6x2x3xf32>, tensor<2x6x2x3xf32>) -> tensor<2x12x2x3xf32>
  %6 = mlc.reduce %5 {axes = array<i64: 2, 3>, kind = "mean"} : (tensor<2x12x2x3xf32>) -> tensor<2x12x1x1xf32>
  return %6 : tensor<2x12x1x1xf32>
}
