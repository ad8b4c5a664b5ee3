// RUN: mlc-opt %s --mlc-partition --split-input-file | FileCheck %s

// Eight samples on three ranks are 3, 3 and 2; the sizes are in the types.

// CHECK-LABEL: func.func @uneven
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32, #mlc.dims<[floordiv(-1 * rank.data + 1, 3) + 3, 4]>>
// CHECK: mlc.reshape %[[X]] {dims = #mlc.dims<[floordiv(-1 * rank.data + 1, 3) + 3, 2, 2]>}
// CHECK: %[[S:.*]] = mlc.compute {{.*}}sum{v < floordiv(-1 * n0 + 1, 3) + 3}(x0[v, j, u]) / f32(8){{.*}}integers = #mlc.dims<[rank.data]>
// CHECK-NEXT: dist.all_reduce %[[S]]
module attributes {dist.mesh = [#dist.axis<"data", 3>]} {
  func.func @uneven(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<["data", ""]>}) -> tensor<1x2x2xf32> {
    %0 = mlc.reshape %x {dims = #mlc.dims<[8, 2, 2]>} : (tensor<8x4xf32>) -> tensor<8x2x2xf32>
    %1 = mlc.reduce %0 {axes = array<i64: 0>, kind = "mean"} : (tensor<8x2x2xf32>) -> tensor<1x2x2xf32>
    return %1 : tensor<1x2x2xf32>
  }
}

// -----

// For any number of ranks that have parts alike.

// CHECK-LABEL: func.func @open
// CHECK-SAME: tensor<?x4xf32, #mlc.dims<[L, 4]>> {dist.sharding = #dist.sharding<["data", ""]>, dist.whole = #mlc.dims<[L * N, 4]>}
// CHECK: mlc.softmax %{{.*}} : (tensor<?x4xf32, #mlc.dims<[L, 4]>>)
module attributes {dist.mesh = [#dist.axis<"data", N>]} {
  func.func @open(%x: tensor<?x4xf32, #mlc.dims<[N * L, 4]>> {dist.sharding = #dist.sharding<["data", ""]>}) -> tensor<?x4xf32, #mlc.dims<[N * L, 4]>> {
    %0 = mlc.softmax %x {axis = 1} : (tensor<?x4xf32, #mlc.dims<[N * L, 4]>>) -> tensor<?x4xf32, #mlc.dims<[N * L, 4]>>
    return %0 : tensor<?x4xf32, #mlc.dims<[N * L, 4]>>
  }
}

// -----

// Rank 3 of the axis a has nothing: the index that the axis b moves is not
// divided by how much that is.

// CHECK-LABEL: func.func @empty
// CHECK: mlc.compute %{{.*}} {definition = "(x0; n0) Y[i, j, u] = x0<0>[i * 3 + (j + {{.*}}), u]"
module attributes {dist.mesh = [#dist.axis<"a", 4>, #dist.axis<"b", 2>]} {
  func.func @empty(%x: tensor<9x3xf32> {dist.sharding = #dist.sharding<["", "a"]>}) -> (tensor<3x3x3xf32> {dist.sharding = #dist.sharding<["", "b", "a"]>}) {
    %0 = mlc.reshape %x {dims = #mlc.dims<[3, 3, 3]>} : (tensor<9x3xf32>) -> tensor<3x3x3xf32>
    return %0 : tensor<3x3x3xf32>
  }
}
