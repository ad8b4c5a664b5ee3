// What ranks exchange is brought together in memory.
// RUN: mlc-opt %s --mlc-lower-collectives | FileCheck %s

module attributes {dist.mesh = [#dist.axis<"data", 4>, #dist.axis<"one", 1>]} {

// CHECK-LABEL: @reduce_scatter_on_dim_1
// CHECK: %[[T:.+]] = mlc.transpose %arg0 {permutation = array<i64: 1, 0>}
// CHECK: %[[R:.+]] = dist.reduce_scatter %[[T]] {{.*}}dims = array<i64: 0>{{.*}} : (tensor<8x3xf32>) -> tensor<2x3xf32>
// CHECK: %[[B:.+]] = mlc.transpose %[[R]] {permutation = array<i64: 1, 0>}
// CHECK: return %[[B]]
func.func @reduce_scatter_on_dim_1(%x: tensor<3x8xf32>) -> tensor<3x2xf32> {
  %y = dist.reduce_scatter %x {axis = #dist.axis<"data", 4>, dims = array<i64: 1>, extents = #mlc.dims<[8]>, units = #mlc.dims<[1]>, reduction = "sum"} : (tensor<3x8xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: @several_even_parts_are_one
// CHECK-DAG: mlc.reshape %arg0 {dims = #mlc.dims<[1, 6]>}
// CHECK-DAG: mlc.reshape %arg1 {dims = #mlc.dims<[1, 2]>}
// CHECK: mlc.concat
// CHECK: dist.all_gather %{{.*}}extents = #mlc.dims<[4]>{{.*}} : (tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK: mlc.slice {{.*}} -> tensor<4x6xf32>
// CHECK: mlc.slice {{.*}} -> tensor<4x2xf32>
func.func @several_even_parts_are_one(%x: tensor<2x3xf32>, %y: tensor<2xf32>) -> (tensor<8x3xf32>, tensor<8xf32>) {
  %z:2 = dist.all_gather %x, %y {axis = #dist.axis<"data", 4>, dims = array<i64: 0, 0>, extents = #mlc.dims<[8, 8]>, units = #mlc.dims<[1, 1]>} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<8x3xf32>, tensor<8xf32>)
  return %z#0, %z#1 : tensor<8x3xf32>, tensor<8xf32>
}

// Parts of several sizes stay messages of their own.
// CHECK-LABEL: @uneven_parts_are_several
// CHECK-NOT: mlc.concat
// CHECK: dist.all_gather %arg0, %arg1
func.func @uneven_parts_are_several(%x: tensor<?xf32, #mlc.dims<[floordiv(10 - rank.data, 4)]>>, %y: tensor<2xf32>) -> (tensor<7xf32>, tensor<8xf32>) {
  %z:2 = dist.all_gather %x, %y {axis = #dist.axis<"data", 4>, dims = array<i64: 0, 0>, extents = #mlc.dims<[7, 8]>, units = #mlc.dims<[1, 1]>} : (tensor<?xf32, #mlc.dims<[floordiv(10 - rank.data, 4)]>>, tensor<2xf32>) -> (tensor<7xf32>, tensor<8xf32>)
  return %z#0, %z#1 : tensor<7xf32>, tensor<8xf32>
}

// Blocks of [2, 3] elements for each rank, and from each.
// CHECK-LABEL: @all_to_all
// CHECK: mlc.reshape %arg0 {dims = #mlc.dims<[4, 1, 2, 3]>}
// CHECK: dist.all_to_all {{.*}}join = 1 : i64, joinExtent = #mlc.int<4>, split = 0 : i64, splitExtent = #mlc.int<4>{{.*}} : (tensor<4x1x2x3xf32>) -> tensor<1x4x2x3xf32>
// CHECK: mlc.transpose {{.*}} {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
func.func @all_to_all(%x: tensor<8x3xf32>) -> tensor<2x12xf32> {
  %y = dist.all_to_all %x {axis = #dist.axis<"data", 4>, split = 0 : i64, splitExtent = #mlc.int<8>, join = 1 : i64, joinExtent = #mlc.int<12>} : (tensor<8x3xf32>) -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}

// CHECK-LABEL: @halo
// CHECK: %[[LAST:.+]] = mlc.slice %arg0 {{.*}}starts = #mlc.dims<[0, 3]>
// CHECK: %[[LOW:.+]] = dist.shift %[[LAST]] {{.*}}by = 1 : i64
// CHECK: %[[FIRST:.+]] = mlc.slice %arg0 {{.*}}starts = #mlc.dims<[0, 0]>
// CHECK: %[[HIGH:.+]] = dist.shift %[[FIRST]] {{.*}}by = -1 : i64
// CHECK: mlc.concat %[[LOW]], %arg0, %[[HIGH]]
func.func @halo(%x: tensor<2x4xf32>) -> tensor<2x6xf32> {
  %y = dist.halo %x {axis = #dist.axis<"data", 4>, dim = 1 : i64, low = 1 : i64, high = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// CHECK-LABEL: @alone
// CHECK-NOT: dist.
// CHECK: mlc.fill
// CHECK: mlc.pad
// CHECK-NOT: dist.
// CHECK: return %arg0
func.func @alone(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x6xf32>) {
  %y = dist.all_reduce %x {axis = #dist.axis<"one", 1>, reduction = "sum"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = dist.shift %x {axis = #dist.axis<"one", 1>, by = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %h = dist.halo %x {axis = #dist.axis<"one", 1>, dim = 1 : i64, low = 1 : i64, high = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x6xf32>
  return %y, %s, %h : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x6xf32>
}

}
