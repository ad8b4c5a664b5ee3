// A batch norm behind a convolution is folded when its parameters are constant
// and nobody else reads the convolution; the result is proved equal.
// RUN: mlc-opt --mlc-apply-rules=target=cpu:x86-64-v3 %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlc-verify --function=folded %s %t.mlir | FileCheck --check-prefix=PROOF %s
// RUN: mlc-verify --function=shared %s %t.mlir | FileCheck --check-prefix=PROOF %s

// PROOF: proved

// CHECK: mlc.trail = "[{{.*}}\22g\22:\222\22{{.*}}\22places\22:[\22conv\22,\22bn\22],\22reals\22:{\22eps2\22:\220.001{{[0-9]*}}\22},\22rule\22:\22conv_batch_norm_as_grouped_conv_and_bias\22

!x = tensor<?x4x?x8xf32, #mlc.dims<[N, 4, H, 8]>>
!y = tensor<?x6x?x6xf32, #mlc.dims<[N, 6, H, 6]>>

// CHECK-LABEL: func.func @folded
// CHECK-NOT: mlc.batch_norm
// CHECK: mlc.conv
// CHECK: mlc.add
func.func @folded(%x: !x) -> !y {
  %w = mlc.constant dense<0.5> : tensor<6x2x3x3xf32>
  %s = mlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %b = mlc.constant dense<[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]> : tensor<6xf32>
  %v = mlc.constant dense<[1.5, 2.5, 3.5, 0.5, 5.5, 6.5]> : tensor<6xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 0, 1, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (!x, tensor<6x2x3x3xf32>) -> !y loc("conv")
  %1 = mlc.batch_norm %0, %s, %b, %b, %v {epsilon = #mlc.real<0.001>} : (!y, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !y loc("bn")
  return %1 : !y
}

// The convolution is read twice: folding would compute it twice.
// CHECK-LABEL: func.func @shared
// CHECK: mlc.conv
// CHECK-NOT: mlc.conv
func.func @shared(%x: !x) -> (!y, !y) {
  %w = mlc.constant dense<0.5> : tensor<6x2x3x3xf32>
  %s = mlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 0, 1, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (!x, tensor<6x2x3x3xf32>) -> !y
  %1 = mlc.batch_norm %0, %s, %s, %s, %s {epsilon = #mlc.real<0.001>} : (!y, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !y
  return %0, %1 : !y, !y
}

// Parameters that are not known are left alone.
// CHECK-LABEL: func.func @unknown
// CHECK: mlc.batch_norm
func.func @unknown(%x: !x, %s: tensor<6xf32>) -> !y {
  %w = mlc.constant dense<0.5> : tensor<6x2x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 0, 1, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (!x, tensor<6x2x3x3xf32>) -> !y
  %1 = mlc.batch_norm %0, %s, %s, %s, %s {epsilon = #mlc.real<0.001>} : (!y, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !y
  return %1 : !y
}
