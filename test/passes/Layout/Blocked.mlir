// Convolutions and what lies between them work on blocks of 16 channels. The
// blocked function is not told apart from the plain one by numbers (a proof of
// it is not found: two rectifiers within sums).
// RUN: mlc-opt --mlc-assign-layout %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: not mlc-verify --function=residual %s %t.mlir | FileCheck --check-prefix=PROOF %s

// PROOF: unknown: result 0

!x = tensor<?x32x?x?xf32, #mlc.dims<[N, 32, H, W]>>

// The sum stays blocked: one pack in front, one unpack behind.
// CHECK-LABEL: func.func @residual
// CHECK: mlc.pack
// CHECK: mlc.pad {{.*}}high = #mlc.dims<[0, 0, 1, 1, 0]>
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.conv"
// CHECK: mlc.relu {{.*}}x2x?x?x16xf32
// CHECK: mlc.add {{.*}}x2x?x?x16xf32
// CHECK-NOT: mlc.pack
// CHECK: mlc.unpack
func.func @residual(%x: !x) -> !x {
  %w = mlc.constant dense<0.25> : tensor<32x32x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<32x32x3x3xf32>) -> !x
  %1 = mlc.relu %0 : (!x) -> !x
  %2 = mlc.conv %1, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<32x32x3x3xf32>) -> !x
  %3 = mlc.add %2, %0 : (!x, !x) -> !x
  return %3 : !x
}
