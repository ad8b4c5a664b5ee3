// RUN: mlc-opt %s --mlc-partition | FileCheck %s

// Columns of the first weight, rows of the second, on one axis, the batch on
// another: one sum, of what is local but for that. Of [batch * time] a rank has
// its part of the batch in units of time.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x16xf32> {{.*}}, %[[V:.*]]: tensor<16x8xf32> {{.*}}, %[[B:.*]]: tensor<8xf32> {{.*}}, %[[W:.*]]: tensor<8x16xf32>
// CHECK-NEXT: %[[F:.*]] = mlc.reshape %[[X]] {dims = #mlc.dims<[15, 16]>}
// CHECK-NEXT: %[[H:.*]] = mlc.matmul %[[F]], %[[V]] : (tensor<15x16xf32>, tensor<16x8xf32>) -> tensor<15x8xf32>
// CHECK-NEXT: mlc.reshape %[[B]] {dims = #mlc.dims<[1, 8]>}
// CHECK-NEXT: mlc.broadcast {{.*}} {dims = #mlc.dims<[15, 8]>}
// CHECK-NEXT: mlc.add %[[H]]
// CHECK-NEXT: %[[A:.*]] = mlc.tanh
// CHECK-NEXT: %[[Y:.*]] = mlc.matmul %[[A]], %[[W]] : (tensor<15x8xf32>, tensor<8x16xf32>) -> tensor<15x16xf32>
// CHECK-NEXT: %[[R:.*]] = mlc.reshape %[[Y]] {dims = #mlc.dims<[3, 5, 16]>}
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce %[[R]] {axis = #dist.axis<"model", 4>, reduction = "sum"}
// CHECK-NEXT: return %[[S]]
module attributes {dist.mesh = [#dist.axis<"data", 2>, #dist.axis<"model", 4>]} {
  func.func @main(%x: tensor<6x5x16xf32> {dist.sharding = #dist.sharding<["data", "", ""]>},
                  %v: tensor<16x32xf32> {dist.sharding = #dist.sharding<["", "model"]>},
                  %b: tensor<32xf32> {dist.sharding = #dist.sharding<["model"]>},
                  %w: tensor<32x16xf32> {dist.sharding = #dist.sharding<["model", ""]>})
      -> tensor<6x5x16xf32> {
    %f = mlc.reshape %x {dims = #mlc.dims<[30, 16]>} : (tensor<6x5x16xf32>) -> tensor<30x16xf32>
    %h = mlc.matmul %f, %v : (tensor<30x16xf32>, tensor<16x32xf32>) -> tensor<30x32xf32>
    %row = mlc.reshape %b {dims = #mlc.dims<[1, 32]>} : (tensor<32xf32>) -> tensor<1x32xf32>
    %rows = mlc.broadcast %row {dims = #mlc.dims<[30, 32]>} : (tensor<1x32xf32>) -> tensor<30x32xf32>
    %hb = mlc.add %h, %rows : (tensor<30x32xf32>, tensor<30x32xf32>) -> tensor<30x32xf32>
    %a = mlc.tanh %hb : (tensor<30x32xf32>) -> tensor<30x32xf32>
    %y = mlc.matmul %a, %w : (tensor<30x32xf32>, tensor<32x16xf32>) -> tensor<30x16xf32>
    %r = mlc.reshape %y {dims = #mlc.dims<[6, 5, 16]>} : (tensor<30x16xf32>) -> tensor<6x5x16xf32>
    return %r : tensor<6x5x16xf32>
  }

  // Heads of attention: a dim that is cut in two carries the split in its first.
  // CHECK-LABEL: func.func @heads
  // CHECK: mlc.reshape %{{.*}} {dims = #mlc.dims<[2, 5, 3, 4]>} : (tensor<2x5x12xf32>)
  // CHECK-NEXT: mlc.transpose {{.*}} -> tensor<2x3x5x4xf32>
  // CHECK-NEXT: return
  func.func @heads(%x: tensor<4x5x48xf32> {dist.sharding = #dist.sharding<["data", "", "model"]>}) -> tensor<4x12x5x4xf32> {
    %0 = mlc.reshape %x {dims = #mlc.dims<[4, 5, 12, 4]>} : (tensor<4x5x48xf32>) -> tensor<4x5x12x4xf32>
    %1 = mlc.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x5x12x4xf32>) -> tensor<4x12x5x4xf32>
    return %1 : tensor<4x12x5x4xf32>
  }

  // The second factor of a dim is no part of it.
  // CHECK-LABEL: func.func @joined
  // CHECK: dist.all_gather %{{.*}} {axis = #dist.axis<"model", 4>, dims = array<i64: 1>, extents = #mlc.dims<[8]>, units = #mlc.dims<[1]>}
  // CHECK-NEXT: mlc.reshape
  func.func @joined(%x: tensor<3x8xf32> {dist.sharding = #dist.sharding<["", "model"]>}) -> tensor<24xf32> {
    %0 = mlc.reshape %x {dims = #mlc.dims<[24]>} : (tensor<3x8xf32>) -> tensor<24xf32>
    return %0 : tensor<24xf32>
  }

  // From one dim to another.
  // CHECK-LABEL: func.func @turned
  // CHECK: dist.all_to_all %{{.*}} {axis = #dist.axis<"model", 4>, join = 0 : i64, joinExtent = #mlc.int<8>, split = 1 : i64, splitExtent = #mlc.int<12>} : (tensor<2x12xf32>) -> tensor<8x3xf32>
  func.func @turned(%x: tensor<8x12xf32> {dist.sharding = #dist.sharding<["model", ""]>})
      -> (tensor<8x12xf32> {dist.sharding = #dist.sharding<["", "model"]>}) {
    %0 = mlc.exp %x : (tensor<8x12xf32>) -> tensor<8x12xf32>
    return %0 : tensor<8x12xf32>
  }
}
