// RUN: mlc-opt %s --mlc-partition | FileCheck %s
// RUN: mlc-opt %s --mlc-partition --mlc-stack-ranks -o %t.mlir
// RUN: mlc-verify %s %t.mlir | FileCheck %s --check-prefix=PROVED
// PROVED: proved

// Three partial terms and two others: the partial ones are added up, and reduced once.
// CHECK: %[[A:.*]] = mlc.matmul %arg1, %arg2
// CHECK: %[[B:.*]] = mlc.matmul
// CHECK: %[[C:.*]] = mlc.matmul
// CHECK: %[[BA:.*]] = mlc.add %[[B]], %[[A]]
// CHECK: %[[BAC:.*]] = mlc.add %[[BA]], %[[C]]
// CHECK: %[[SUM:.*]] = dist.all_reduce %[[BAC]]
// CHECK: %[[OTHERS:.*]] = mlc.add %arg0, %arg3
// CHECK: mlc.add %[[OTHERS]], %[[SUM]]
// CHECK-NOT: dist.
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<4x4xf32>,
      %h: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "a"]>},
      %w: tensor<6x4xf32> {dist.sharding = #dist.sharding<["a", ""]>},
      %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %a = mlc.matmul %h, %w : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %0 = mlc.add %x, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %g = mlc.relu %h : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %b = mlc.matmul %g, %w : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %1 = mlc.add %b, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = mlc.add %1, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %i = mlc.tanh %h : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %c = mlc.matmul %i, %w : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %3 = mlc.add %2, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}
