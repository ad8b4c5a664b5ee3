// What ranks exchange, printed and read again in its own syntax and in the generic one.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='"dist.'

// CHECK: dist.mesh = [#dist.axis<"data", 4>, #dist.axis<"model", N>]
// CHECK: func.func @main(%arg0: tensor<32x784xf32> {dist.sharding = #dist.sharding<["data", ""]>}, %arg1: tensor<f32> {dist.sharding = #dist.sharding<[], partial = ["data", "model" max]>}, %arg2: tensor<7xf32> {dist.sharding = #dist.sharding<{{\[\["data", "model"\]\]}}>}
// CHECK: dist.all_reduce %arg0, %arg0 {algorithm = "ring", axis = #dist.axis<"data", 4>, reduction = "sum"} : (tensor<32x784xf32>, tensor<32x784xf32>) -> (tensor<32x784xf32>, tensor<32x784xf32>)
// CHECK: dist.all_reduce %arg1 {axis = #dist.axis<"model", N>, reduction = "prod"} : (tensor<f32>) -> tensor<f32>
// CHECK: dist.reduce_scatter %arg0 {axis = #dist.axis<"data", 4>, dims = array<i64: 1>, extents = #mlc.dims<[196]>, reduction = "max", units = #mlc.dims<[4]>} : (tensor<32x784xf32>) -> tensor<32x196xf32>
// CHECK: dist.all_gather %{{.*}} {algorithm = "ring", axis = #dist.axis<"data", 4>, dims = array<i64: 1>, extents = #mlc.dims<[196]>, occasion = 1 : i64, units = #mlc.dims<[4]>} : (tensor<32x196xf32>) -> tensor<32x784xf32>
// CHECK: dist.all_to_all %{{.*}} {axis = #dist.axis<"data", 4>, join = 1 : i64, joinExtent = #mlc.int<784>, split = 0 : i64, splitExtent = #mlc.int<32>} : (tensor<32x196xf32>) -> tensor<8x784xf32>
// CHECK: dist.broadcast %arg1 {axis = #dist.axis<"model", N>, root = 0 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK: dist.shift %arg1 {axis = #dist.axis<"model", N>, by = -1 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK: dist.halo %{{.*}} {axis = #dist.axis<"data", 4>, dim = 0 : i64, high = 2 : i64, low = 1 : i64} : (tensor<8x784xf32>) -> tensor<11x784xf32>
// Seven rows for ranks that are not known: one has more than another.
// CHECK: dist.reduce_scatter %{{.*}} -> tensor<?xf32, #mlc.dims<[floordiv(-1 * rank.model + 6, N) + 1]>>
module attributes {dist.mesh = [#dist.axis<"data", 4>, #dist.axis<"model", N>]} {
  func.func @main(%x: tensor<32x784xf32> {dist.sharding = #dist.sharding<["data", ""]>},
                  %s: tensor<f32> {dist.sharding = #dist.sharding<[], partial = ["data", "model" max]>},
                  %v: tensor<7xf32> {dist.sharding = #dist.sharding<[["data", "model"]]>})
      -> (tensor<11x784xf32> {dist.sharding = #dist.sharding<["data", ""]>}) {
    %0:2 = dist.all_reduce %x, %x {axis = #dist.axis<"data", 4>, reduction = "sum", algorithm = "ring"} : (tensor<32x784xf32>, tensor<32x784xf32>) -> (tensor<32x784xf32>, tensor<32x784xf32>)
    %1 = dist.all_reduce %s {axis = #dist.axis<"model", N>, reduction = "prod"} : (tensor<f32>) -> tensor<f32>
    %2 = dist.reduce_scatter %x {axis = #dist.axis<"data", 4>, dims = array<i64: 1>, extents = #mlc.dims<[196]>, units = #mlc.dims<[4]>, reduction = "max"} : (tensor<32x784xf32>) -> tensor<32x196xf32>
    %3 = dist.all_gather %2 {algorithm = "ring", axis = #dist.axis<"data", 4>, occasion = 1 : i64, dims = array<i64: 1>, extents = #mlc.dims<[196]>, units = #mlc.dims<[4]>} : (tensor<32x196xf32>) -> tensor<32x784xf32>
    %4 = dist.all_to_all %2 {axis = #dist.axis<"data", 4>, split = 0, splitExtent = #mlc.int<32>, join = 1, joinExtent = #mlc.int<784>} : (tensor<32x196xf32>) -> tensor<8x784xf32>
    %5 = dist.broadcast %s {axis = #dist.axis<"model", N>, root = 0} : (tensor<f32>) -> tensor<f32>
    %6 = dist.shift %s {axis = #dist.axis<"model", N>, by = -1} : (tensor<f32>) -> tensor<f32>
    %7 = dist.halo %4 {axis = #dist.axis<"data", 4>, dim = 0, low = 1, high = 2} : (tensor<8x784xf32>) -> tensor<11x784xf32>
    %8 = dist.reduce_scatter %v {axis = #dist.axis<"model", N>, dims = array<i64: 0>, extents = #mlc.dims<[7]>, units = #mlc.dims<[1]>, reduction = "min"} : (tensor<7xf32>) -> tensor<?xf32, #mlc.dims<[floordiv(6 + N - rank.model, N)]>>
    return %7 : tensor<11x784xf32>
  }
}
