// Convolutions of float16 run in float32 between casts, on blocked channels like
// all others; a batch norm becomes a scale and a shift; the choice of a maximum
// is made among widened numbers. Every operator still rounds its result.
// RUN: mlc-opt --mlc-assign-layout %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python -c "import numpy; numpy.save('%t.npy', numpy.random.default_rng(1).uniform(-2, 2, (1, 32, 6, 5)).astype('f2'))"
// RUN: mlc-eval %s --input=%t.npy --output-dir=%t.plain
// RUN: mlc-eval %t.mlir --input=%t.npy --output-dir=%t.wide
// RUN: %python -c "import numpy; plain, wide = (numpy.load('%t.' + kind + '/0.npy') for kind in ('plain', 'wide')); assert plain.dtype == wide.dtype == numpy.float16 and numpy.array_equal(plain, wide), abs(plain - wide).max()"

!x = tensor<1x32x?x5xf16, #mlc.dims<[1, 32, H, 5]>>
// CHECK-LABEL: func.func @main
// CHECK: mlc.cast %arg0 {to = f32}
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"} {{.*}} -> tensor<1x2x?x5x16xf32
// CHECK: mlc.cast {{.*}}to = f16
// CHECK: mlc.cast {{.*}}to = f32
// CHECK-NOT: mlc.batch_norm
// CHECK: mlc.mul {{.*}} -> tensor<1x2x?x5x16xf32
// CHECK: mlc.add {{.*}} -> tensor<1x2x?x5x16xf32
// CHECK: mlc.cast {{.*}}to = f16
// CHECK: mlc.relu {{.*}} -> tensor<1x2x?x5x16xf16
// CHECK: mlc.cast {{.*}}to = f32
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.max_pool"} {{.*}} -> tensor<1x2x?x5x16xf32
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"
// CHECK: mlc.cast {{.*}}to = f16
func.func @main(%x: !x) -> !x {
  %w = mlc.constant dense<0.0625> : tensor<32x32x1x1xf16>
  %scale = mlc.constant dense<1.5> : tensor<32xf16>
  %bias = mlc.constant dense<0.1> : tensor<32xf16>
  %mean = mlc.constant dense<0.2> : tensor<32xf16>
  %variance = mlc.constant dense<0.7> : tensor<32xf16>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<32x32x1x1xf16>) -> !x
  %1 = mlc.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = #mlc.real<1.0e-5>} : (!x, tensor<32xf16>, tensor<32xf16>, tensor<32xf16>, tensor<32xf16>) -> !x
  %2 = mlc.relu %1 : (!x) -> !x
  %3 = mlc.max_pool %2 {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (!x) -> !x
  %4 = mlc.conv %3, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<32x32x1x1xf16>) -> !x
  return %4 : !x
}
