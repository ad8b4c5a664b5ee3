// What MLIR's own verifiers would read out of bounds for is refused by the tools that read texts of unknown origin.
// RUN: split-file %s %t
// RUN: not mlc-verify %t/concat.mlir 2>&1 | FileCheck %s --check-prefix=CHECK-CONCAT
// RUN: not mlc-verify %t/pad.mlir 2>&1 | FileCheck %s --check-prefix=CHECK-PAD
// RUN: not mlc-verify %t/order.mlir 2>&1 | FileCheck %s --check-prefix=CHECK-ORDER
// RUN: not mlc-verify %t/groups.mlir 2>&1 | FileCheck %s --check-prefix=CHECK-GROUPS
// RUN: not mlc-verify %t/none.mlir 2>&1 | FileCheck %s --check-prefix=CHECK-NONE

//--- concat.mlir
// CHECK-CONCAT: concat.mlir":3:8): error: 'tensor.concat' op joins along dim 1, which not all of its tensors have
func.func @b(%x: tensor<8xf32>) -> tensor<16xf32> {
  %s = tensor.concat dim(1) %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}

//--- pad.mlir
// CHECK-PAD: error: 'tensor.pad' op must have a width for each dim and side, none of them the number that stands for an operand
func.func @b(%x: tensor<4xf32>) -> tensor<6xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[-9223372036854775808] high[1] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}

//--- order.mlir
// CHECK-ORDER: error: 'tensor.collapse_shape' op must group all dims in order, got dim 1 where dim 0 is next
func.func @b(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %s = tensor.collapse_shape %x [[1, 0]] : tensor<2x3xf32> into tensor<6xf32>
  return %s : tensor<6xf32>
}

//--- groups.mlir
// CHECK-GROUPS: error: 'tensor.expand_shape' op must group all 3 dims
func.func @b(%x: tensor<6xf32>) -> tensor<2x3x1xf32> {
  %s = tensor.expand_shape %x [[0, 1]] output_shape [2, 3, 1] : tensor<6xf32> into tensor<2x3x1xf32>
  return %s : tensor<2x3x1xf32>
}

// CHECK-NONE: error: could not open input file {{.*}}none.mlir: No such file or directory
