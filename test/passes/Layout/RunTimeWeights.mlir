// Weights that are known only when the model runs are packed by each run, where
// that pays: a 3x3 window over 64 pixels, not 1x1 windows over 16.
// RUN: mlc-opt --mlc-assign-layout=block=8 %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python -c "import numpy; r = numpy.random.default_rng(1); numpy.save('%t.x.npy', r.uniform(-1, 1, (1, 16, 8, 8)).astype('f4')); numpy.save('%t.w.npy', r.uniform(-1, 1, (12, 16, 3, 3)).astype('f4'))"
// RUN: mlc-eval %s --function=packed --input=%t.x.npy --input=%t.w.npy --output-dir=%t.plain
// RUN: mlc-eval %t.mlir --function=packed --input=%t.x.npy --input=%t.w.npy --output-dir=%t.blocked
// RUN: %python -c "import numpy; plain, blocked = (numpy.load('%t.' + kind + '/0.npy') for kind in ('plain', 'blocked')); assert numpy.allclose(plain, blocked, 1e-5, 1e-5), abs(plain - blocked).max()"

!x = tensor<1x16x8x8xf32>
!w = tensor<12x16x3x3xf32>
!y = tensor<1x12x8x8xf32>
// CHECK-LABEL: func.func @packed
// CHECK: mlc.transpose
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"
func.func @packed(%x: !x, %w: !w) -> !y {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, !w) -> !y
  return %0 : !y
}

!few = tensor<1x16x4x4xf32>
!pixel = tensor<16x16x1x1xf32>
// CHECK-LABEL: func.func @few_reads
// CHECK: mlc.conv %
// CHECK-NOT: mlc.laid_out {{.*}}plain_op = "mlc.conv"
func.func @few_reads(%x: !few, %w: !pixel) -> !few {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!few, !pixel) -> !few
  return %0 : !few
}
