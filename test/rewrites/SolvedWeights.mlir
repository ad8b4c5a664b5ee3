// Rules whose weights were solved: the weights are made and folded at compile
// time, and the result is proved equal.
// RUN: mlc-opt "--mlc-apply-rules=target=cpu:x86-64-v3 search=greedy" %s -o %t.mlir
// RUN: mlc-verify --function=normalized %s %t.mlir | FileCheck --check-prefix=PROOF %s
// RUN: mlc-opt --mlc-fold-constants %t.mlir | FileCheck %s

// PROOF: proved

!x = tensor<1x2x8x8xf32>
!y = tensor<1x3x6x6xf32>

// A batch norm in front of a convolution without padding goes into its weights
// and a shift.
// CHECK-LABEL: func.func @normalized
// CHECK-NOT: mlc.batch_norm
// CHECK-NOT: mlc.compute
// CHECK: mlc.conv
// CHECK: mlc.add
func.func @normalized(%x: !x) -> !y {
  %w = mlc.constant dense<0.5> : tensor<3x2x3x3xf32>
  %s = mlc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = mlc.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %v = mlc.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %0 = mlc.batch_norm %x, %s, %b, %b, %v {epsilon = #mlc.real<0.0>} : (!x, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> !x
  %1 = mlc.conv %0, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<3x2x3x3xf32>) -> !y
  return %1 : !y
}
