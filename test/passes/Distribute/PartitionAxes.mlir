// RUN: split-file %s %t
// RUN: mlc-opt %t/gather.mlir --mlc-partition | FileCheck %t/gather.mlir
// RUN: mlc-opt %t/gather.mlir --mlc-partition --mlc-stack-ranks -o %t/ranks && mlc-verify %t/gather.mlir %t/ranks | FileCheck --check-prefix=PROOF %s
// RUN: mlc-opt %t/move.mlir --mlc-partition | FileCheck %t/move.mlir
// RUN: mlc-opt %t/move.mlir --mlc-partition --mlc-stack-ranks -o %t/ranks && mlc-verify %t/move.mlir %t/ranks | FileCheck --check-prefix=PROOF %s
// RUN: mlc-opt %t/turn.mlir --mlc-partition --mlc-stack-ranks -o %t/ranks && mlc-verify %t/turn.mlir %t/ranks | FileCheck --check-prefix=PROOF %s

// PROOF: proved

// Axes are gone through one after the other. What a collective of the first
// does to a dim, no rank of the second can do to a part of that dim: the gather
// is whole along b, and each has its slice of what comes out.

//--- gather.mlir
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<3x4xf32> {dist.sharding = #dist.sharding<["", "b"]>
// CHECK: %[[Y:.*]] = mlc.mul
// CHECK-NEXT: %[[G:.*]] = dist.all_gather %[[Y]] {axis = #dist.axis<"a", 2>, dims = array<i64: 1>
// CHECK-NEXT: %[[S:.*]] = mlc.slice %[[G]] {sizes = #mlc.dims<[3, 4]>, starts = #mlc.dims<[0, 4 * rank.b]>
// CHECK-NEXT: return %[[S]] : tensor<3x4xf32>
module attributes {dist.mesh = [#dist.axis<"a", 2>, #dist.axis<"b", 2>]} {
  func.func @main(%x: tensor<3x8xf32> {dist.sharding = #dist.sharding<["", "b"]>},
                  %scale: tensor<8xf32> {dist.sharding = #dist.sharding<["a"]>})
      -> (tensor<3x8xf32> {dist.sharding = #dist.sharding<["", "b"]>}) {
    %0 = mlc.reshape %scale {dims = #mlc.dims<[1, 8]>} : (tensor<8xf32>) -> tensor<1x8xf32>
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[3, 8]>} : (tensor<1x8xf32>) -> tensor<3x8xf32>
    %2 = mlc.mul %x, %1 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    return %2 : tensor<3x8xf32>
  }
}

//--- move.mlir
// From one axis to the other.
// CHECK: %[[G:.*]] = dist.all_gather %{{.*}} {axis = #dist.axis<"a", 4>
// CHECK-NEXT: mlc.slice %[[G]] {sizes = #mlc.dims<[2]>, starts = #mlc.dims<[2 * rank.b]>
module attributes {dist.mesh = [#dist.axis<"a", 4>, #dist.axis<"b", 2>]} {
  func.func @main(%x: tensor<4xf64> {dist.sharding = #dist.sharding<["a"]>})
      -> (tensor<4xf64> {dist.sharding = #dist.sharding<["b"]>}) {
    return %x : tensor<4xf64>
  }
}

//--- turn.mlir
// What one axis turns from dim to dim is gathered for the other.
module attributes {dist.mesh = [#dist.axis<"a", 2>, #dist.axis<"b", 2>]} {
  func.func @main(%x: tensor<4x4xf64> {dist.sharding = #dist.sharding<["a", "b"]>},
                  %z: tensor<4x4xf64> {dist.sharding = #dist.sharding<["b", "a"]>}) -> tensor<4x4xf64> {
    %y = mlc.add %x, %z : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    return %y : tensor<4x4xf64>
  }
}
