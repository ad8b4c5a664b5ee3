// RUN: mlc-opt %s --mlc-localize-statistics=groups=2 | FileCheck %s
// RUN: not mlc-opt %s --mlc-localize-statistics=groups=3 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not mlc-opt %s --mlc-localize-statistics=groups=0 2>&1 | FileCheck %s --check-prefix=NONE
// UNEVEN: a batch of 8 samples is not one of 3 groups of as many
// NONE: needs a function @main of one block, and groups from 1 on

// Each group's samples lose their own mean; who else reads it has the first's.
// CHECK: func.func @main(
// CHECK: %[[GROUPS:.*]] = mlc.reshape %{{.*}} -> tensor<2x4x3xf32>
// CHECK: %[[MEANS:.*]] = mlc.reduce %[[GROUPS]]
// CHECK: mlc.sub
// CHECK: return
func.func @main(%x: tensor<8x3xf32> {mlc.name = "x"})
    -> (tensor<8x3xf32> {mlc.name = "y"}, tensor<1x3xf32> {mlc.name = "m"}) {
  %m = mlc.reduce %x {axes = array<i64: 0>, kind = "mean"} : (tensor<8x3xf32>) -> tensor<1x3xf32>
  %b = mlc.broadcast %m {dims = #mlc.dims<[8, 3]>} : (tensor<1x3xf32>) -> tensor<8x3xf32>
  %y = mlc.sub %x, %b : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %y, %m : tensor<8x3xf32>, tensor<1x3xf32>
}
