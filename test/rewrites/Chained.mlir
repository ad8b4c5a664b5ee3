// Two products with one left factor become one of both right factors; not where one product is the other's factor.
// RUN: mlc-opt %s --mlc-apply-rules="target=cuda:sm_80 search=egraph" | FileCheck %s
// RUN: mlc-opt %s --mlc-apply-rules="target=cuda:sm_80 search=greedy" | FileCheck %s
// RUN: mlc-opt %s --mlc-apply-rules="target=cuda:sm_80 search=backtracking" | FileCheck %s

// CHECK-LABEL: func.func @chained(
// CHECK-SAME: %[[W:.*]]: tensor<16x16xf32>, %[[X:.*]]: tensor<16x32xf32>)
// CHECK: %[[Y:.*]] = mlc.matmul %[[W]], %[[X]]
// CHECK: %[[Z:.*]] = mlc.matmul %[[W]], %[[Y]]
// CHECK: return %[[Z]]
func.func @chained(%w: tensor<16x16xf32>, %x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = mlc.matmul %w, %x : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = mlc.matmul %w, %0 : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
