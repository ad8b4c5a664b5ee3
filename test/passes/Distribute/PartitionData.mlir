// RUN: mlc-opt %s --mlc-partition | mlc-opt | FileCheck %s
// RUN: mlc-opt %s --mlc-partition=algorithm=ring | FileCheck %s --check-prefix=RING

// A training step with the batch on ranks: all is local but the gradients'
// sums, each made once. A mean is divided by the whole batch.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<8x784xf32> {dist.sharding = #dist.sharding<["data", ""]>, dist.whole = #mlc.dims<[32, 784]>}, %[[T:.*]]: tensor<8x10xf32> {{.*}}, %[[W:.*]]: tensor<784x10xf32> {dist.sharding = #dist.sharding<["", ""]>}, %[[B:.*]]: tensor<1x10xf32>
// CHECK-SAME: -> (tensor<8x10xf32> {dist.sharding = #dist.sharding<["data", ""]>, dist.whole = #mlc.dims<[32, 10]>}, tensor<784x10xf32>
// CHECK-NEXT: mlc.matmul %[[X]], %[[W]] : (tensor<8x784xf32>, tensor<784x10xf32>) -> tensor<8x10xf32>
// CHECK-NEXT: mlc.broadcast %[[B]] {dims = #mlc.dims<[8, 10]>}
// CHECK-NEXT: mlc.add
// CHECK-NEXT: mlc.softmax
// CHECK-NEXT: %[[D:.*]] = mlc.sub
// CHECK-NEXT: %[[XT:.*]] = mlc.transpose %[[X]]
// CHECK-NEXT: %[[GW:.*]] = mlc.matmul %[[XT]], %[[D]] : (tensor<784x8xf32>, tensor<8x10xf32>) -> tensor<784x10xf32>
// CHECK-NEXT: %[[GB:.*]] = mlc.compute %[[D]] {definition = "(x0) Y[i, j] = sum{u < 8}(x0[u, j]) / f32(32)"
// CHECK-NEXT: %[[SW:.*]] = dist.all_reduce %[[GW]] {axis = #dist.axis<"data", 4>, reduction = "sum"}
// CHECK-NEXT: %[[SB:.*]] = dist.all_reduce %[[GB]]
// CHECK-NEXT: mlc.sub %[[W]], %[[SW]]
// CHECK-NEXT: mlc.sub %[[B]], %[[SB]]
// CHECK-NEXT: mlc.mul %[[SW]], %[[SW]]
// CHECK-NOT: dist.
// CHECK: return
// RING: dist.all_reduce {{.*}}algorithm = "ring"
module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @main(%x: tensor<32x784xf32> {dist.sharding = #dist.sharding<["data", ""]>},
                  %t: tensor<32x10xf32> {dist.sharding = #dist.sharding<["data", ""]>},
                  %w: tensor<784x10xf32>, %b: tensor<1x10xf32>)
      -> (tensor<32x10xf32>, tensor<784x10xf32>, tensor<1x10xf32>, tensor<784x10xf32>) {
    %0 = mlc.matmul %x, %w : (tensor<32x784xf32>, tensor<784x10xf32>) -> tensor<32x10xf32>
    %b2 = mlc.broadcast %b {dims = #mlc.dims<[32, 10]>} : (tensor<1x10xf32>) -> tensor<32x10xf32>
    %1 = mlc.add %0, %b2 : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %s = mlc.softmax %1 {axis = 1} : (tensor<32x10xf32>) -> tensor<32x10xf32>
    %d = mlc.sub %s, %t : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %xt = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<32x784xf32>) -> tensor<784x32xf32>
    %gw = mlc.matmul %xt, %d : (tensor<784x32xf32>, tensor<32x10xf32>) -> tensor<784x10xf32>
    %gb = mlc.reduce %d {kind = "mean", axes = array<i64: 0>} : (tensor<32x10xf32>) -> tensor<1x10xf32>
    %square = mlc.mul %gw, %gw : (tensor<784x10xf32>, tensor<784x10xf32>) -> tensor<784x10xf32>
    %w2 = mlc.sub %w, %gw : (tensor<784x10xf32>, tensor<784x10xf32>) -> tensor<784x10xf32>
    %b3 = mlc.sub %b, %gb : (tensor<1x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
    return %s, %w2, %b3, %square : tensor<32x10xf32>, tensor<784x10xf32>, tensor<1x10xf32>, tensor<784x10xf32>
  }
}
