// RUN: mlc-opt %s --mlc-partition --split-input-file | FileCheck %s
// RUN: mlc-opt %s --mlc-partition=reshard-after-forward=true --split-input-file | FileCheck %s --check-prefix=AGAIN

// What the optimizer keeps is split: a gradient goes to the parts, the update is
// local, and the weight is gathered. A result that is a state is where it was.

// CHECK-LABEL: func.func @step
// CHECK-SAME: , %[[W:[^:]*]]: tensor<12x5xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.state = "w"}, %[[M:.*]]: tensor<3x5xf32> {dist.sharding = #dist.sharding<["data", ""]>, dist.whole = #mlc.dims<[12, 5]>, mlc.state = "m"})
// CHECK-SAME: -> (tensor<12x5xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.state = "w"}, tensor<3x5xf32> {dist.sharding = #dist.sharding<["data", ""]>, dist.whole = #mlc.dims<[12, 5]>, mlc.state = "m"})
// CHECK: mlc.transpose
// CHECK-NEXT: %[[G:.*]] = mlc.matmul
// CHECK-NEXT: %[[P:.*]] = dist.reduce_scatter %[[G]] {axis = #dist.axis<"data", 4>, dims = array<i64: 0>, extents = #mlc.dims<[12]>, reduction = "sum", units = #mlc.dims<[1]>} : (tensor<12x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[N:.*]] = mlc.add %[[M]], %[[P]]
// CHECK-NEXT: %[[S:.*]] = mlc.slice %[[W]] {sizes = #mlc.dims<[3, 5]>, starts = #mlc.dims<[3 * rank.data, 0]>
// CHECK-NEXT: %[[V:.*]] = mlc.sub %[[S]], %[[N]]
// CHECK-NEXT: %[[A:.*]] = dist.all_gather %[[V]] {axis = #dist.axis<"data", 4>, dims = array<i64: 0>, extents = #mlc.dims<[12]>, units = #mlc.dims<[1]>}
// CHECK-NEXT: return %[[A]], %[[N]]
module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @step(%x: tensor<8x12xf32> {dist.sharding = #dist.sharding<["data", ""]>}, %w: tensor<12x5xf32> {mlc.state = "w"},
                  %m: tensor<12x5xf32> {mlc.state = "m", dist.sharding = #dist.sharding<["data", ""]>})
      -> (tensor<12x5xf32> {mlc.state = "w"}, tensor<12x5xf32> {mlc.state = "m"}) {
    %y = mlc.matmul %x, %w : (tensor<8x12xf32>, tensor<12x5xf32>) -> tensor<8x5xf32>
    %xt = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %g = mlc.matmul %xt, %y : (tensor<12x8xf32>, tensor<8x5xf32>) -> tensor<12x5xf32>
    %n = mlc.add %m, %g : (tensor<12x5xf32>, tensor<12x5xf32>) -> tensor<12x5xf32>
    %v = mlc.sub %w, %n : (tensor<12x5xf32>, tensor<12x5xf32>) -> tensor<12x5xf32>
    return %v, %n : tensor<12x5xf32>, tensor<12x5xf32>
  }
}

// -----

// The weight too: gathered for the loss, and anew for the gradients where that
// is asked for.

// CHECK-LABEL: func.func @all
// CHECK: dist.all_gather
// CHECK-NOT: dist.all_gather
// CHECK: dist.reduce_scatter
// AGAIN-LABEL: func.func @all
// AGAIN: %[[A:.*]] = dist.all_gather %[[W:.*]] {
// AGAIN-NEXT: %[[Y:.*]] = mlc.matmul %{{.*}}, %[[A]]
// AGAIN: mlc.reduce
// AGAIN: %[[B:.*]] = dist.all_gather %[[W]] {
// AGAIN-NEXT: mlc.transpose %[[B]]
// AGAIN: mlc.transpose
// AGAIN-NEXT: %[[G:.*]] = mlc.matmul
// AGAIN: %[[P:.*]] = dist.reduce_scatter %[[G]]
// AGAIN-NEXT: mlc.sub %[[W]], %[[P]]
module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @all(%x: tensor<8x12xf32> {dist.sharding = #dist.sharding<["data", ""]>},
                 %w: tensor<12x12xf32> {mlc.state = "w", dist.sharding = #dist.sharding<["data", ""]>})
      -> (tensor<1x1xf32>, tensor<12x12xf32> {mlc.state = "w"}) {
    %y = mlc.matmul %x, %w : (tensor<8x12xf32>, tensor<12x12xf32>) -> tensor<8x12xf32>
    %l = mlc.reduce %y {axes = array<i64: 0, 1>, kind = "sum"} : (tensor<8x12xf32>) -> tensor<1x1xf32>
    %wt = mlc.transpose %w {permutation = array<i64: 1, 0>} : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %z = mlc.matmul %y, %wt : (tensor<8x12xf32>, tensor<12x12xf32>) -> tensor<8x12xf32>
    %xt = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %g = mlc.matmul %xt, %z : (tensor<12x8xf32>, tensor<8x12xf32>) -> tensor<12x12xf32>
    %v = mlc.sub %w, %g : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    return %l, %v : tensor<1x1xf32>, tensor<12x12xf32>
  }
}

// -----

// Another entry that reads it says nothing of it.

// CHECK-LABEL: func.func @show
// CHECK-SAME: %[[W:.*]]: tensor<3xf32> {dist.sharding = #dist.sharding<["data"]>
// CHECK: dist.all_gather %[[W]]
module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @show(%w: tensor<12xf32> {mlc.state = "w"}) -> (tensor<12xf32> {dist.sharding = #dist.sharding<[""]>}) {
    return %w : tensor<12xf32>
  }
  func.func @set(%x: tensor<12xf32>) -> (tensor<12xf32> {mlc.state = "w", dist.sharding = #dist.sharding<["data"]>}) {
    return %x : tensor<12xf32>
  }
}

// -----

// A state that is a partial sum takes more terms without an exchange.

// CHECK-LABEL: func.func @accumulate
// CHECK-NOT: dist.{{(all|reduce)}}
// CHECK: return {{.*}} : tensor<1x5xf32>
module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @accumulate(%x: tensor<8x5xf32> {dist.sharding = #dist.sharding<["data", ""]>},
                        %s: tensor<1x5xf32> {mlc.state = "s", dist.sharding = #dist.sharding<["", ""], partial = ["data"]>})
      -> (tensor<1x5xf32> {mlc.state = "s"}) {
    %0 = mlc.reduce %x {axes = array<i64: 0>, kind = "sum"} : (tensor<8x5xf32>) -> tensor<1x5xf32>
    %1 = mlc.add %s, %0 : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    return %1 : tensor<1x5xf32>
  }
}
