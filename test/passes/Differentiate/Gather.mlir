// The gradient of gather adds what was picked, that of scatter_add picks.
// RUN: mlc-opt %s --mlc-differentiate=function=embedding | FileCheck %s
// RUN: mlc-opt %s --mlc-differentiate=function=accumulated | FileCheck %s --check-prefix=SCATTER
// RUN: mlc-opt %s --mlc-differentiate=function=largest | FileCheck %s --check-prefix=LARGEST

// CHECK-LABEL: func.func @embedding_gradient(
// CHECK-SAME: %{{.*}}: tensor<8x10xf32>, %[[I:.*]]: tensor<4xi64>, %[[C:.*]]: tensor<4x10xf32>)
// CHECK: %[[ZEROS:.*]] = mlc.fill
// CHECK: %[[DX:.*]] = mlc.scatter_add %[[ZEROS]], %[[I]], %[[C]] {axis = 0 : i64}
// CHECK: return %[[DX]] :
func.func @embedding(%x: tensor<8x10xf32>, %i: tensor<4xi64>) -> tensor<4x10xf32> {
  %0 = mlc.gather %x, %i {axis = 0 : i64} : (tensor<8x10xf32>, tensor<4xi64>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}

// SCATTER-LABEL: func.func @accumulated_gradient(
// SCATTER-SAME: %[[I:[^:]*]]: tensor<4xi64>, %{{.*}}: tensor<4x10xf32>, %[[C:.*]]: tensor<8x10xf32>)
// SCATTER: %[[DU:.*]] = mlc.gather %[[C]], %[[I]] {axis = 0 : i64}
// SCATTER: return %[[C]], %[[DU]] :
func.func @accumulated(%x: tensor<8x10xf32>, %i: tensor<4xi64>, %u: tensor<4x10xf32>) -> tensor<8x10xf32> {
  %0 = mlc.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<8x10xf32>, tensor<4xi64>, tensor<4x10xf32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}

// Of the largest not all get what it is worth.
// LARGEST-LABEL: func.func @largest_gradient(
// LARGEST-NOT: mlc.gather
// LARGEST: mlc.compute
func.func @largest(%x: tensor<8x10xf32>, %i: tensor<4xi64>, %u: tensor<4x10xf32>) -> tensor<8x10xf32> {
  %0 = mlc.scatter_add %x, %i, %u {axis = 0 : i64, reduction = "max"} : (tensor<8x10xf32>, tensor<4xi64>, tensor<4x10xf32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}
