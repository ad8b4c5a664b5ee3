// RUN: mlc-opt %s --mlc-partition | FileCheck %s

// Windows along a dim that is split read what neighbours have; what a
// convolution has from them it need not pad.

// CHECK-LABEL: func.func @rows
// CHECK: %[[H:.*]] = dist.halo %[[X:.*]] {axis = #dist.axis<"rows", 2>, dim = 2 : i64, high = 1 : i64, low = 1 : i64} : (tensor<2x3x4x6xf32>) -> tensor<2x3x6x6xf32>
// CHECK-NEXT: mlc.conv %[[H]], %{{.*}}pads = #mlc.dims<[0, 1, 0, 1]>{{.*}} -> tensor<2x4x4x6xf32>
// Zeros are no numbers of a maximum.
// CHECK-NEXT: mlc.compute %[[H]] {definition = "(x0; n0) Y[i, j, u, v] = max{r < 3, t < 3}(select(and(u + 4 * n0 + r - 1 >= 0, u + 4 * n0 + r - 1 - 8 < 0), x0<-inf>[i, j, u + r, v + t - 1], -inf))"
// CHECK-NEXT: %[[L:.*]] = dist.halo %[[X]] {{.*}}high = 0 : i64, low = 1 : i64}
// CHECK-NEXT: mlc.conv %[[L]], {{.*}}pads = #mlc.dims<[0, 1, 1, 1]>{{.*}} -> tensor<2x4x2x3xf32>
// Nothing is beside these.
// CHECK-NEXT: mlc.max_pool %[[X]] {{.*}} -> tensor<2x3x2x6xf32>
// Parts of the result begin elsewhere.
// CHECK-NEXT: %[[G:.*]] = dist.all_gather %[[X]]
// CHECK-NEXT: mlc.conv %[[G]], {{.*}} -> tensor<2x4x6x6xf32>
module attributes {dist.mesh = [#dist.axis<"rows", 2>]} {
  func.func @rows(%x: tensor<2x3x8x6xf32> {dist.sharding = #dist.sharding<["", "", "rows", ""]>}, %w: tensor<4x3x3x3xf32>)
      -> (tensor<2x4x8x6xf32>, tensor<2x3x8x6xf32>, tensor<2x4x4x3xf32>, tensor<2x3x4x6xf32>, tensor<2x4x6x6xf32>) {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<2x3x8x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x6xf32>
    %1 = mlc.max_pool %x {kernel = #mlc.dims<[3, 3]>, strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (tensor<2x3x8x6xf32>) -> tensor<2x3x8x6xf32>
    %2 = mlc.conv %x, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<2x3x8x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x3xf32>
    %3 = mlc.max_pool %x {kernel = #mlc.dims<[2, 1]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (tensor<2x3x8x6xf32>) -> tensor<2x3x4x6xf32>
    %4 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 1, 0, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<2x3x8x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
    return %0, %1, %2, %3, %4 : tensor<2x4x8x6xf32>, tensor<2x3x8x6xf32>, tensor<2x4x4x3xf32>, tensor<2x3x4x6xf32>, tensor<2x4x6x6xf32>
  }
}
