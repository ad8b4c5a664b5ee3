// RUN: mlc-opt %s --mlc-partition | FileCheck %s

module attributes {dist.mesh = [#dist.axis<"data", 2>]} {
// A cast passes a sum on that is not yet made, and the wide one is reduced ...
// CHECK-LABEL: @wide
// CHECK: mlc.cast {{.*}} -> tensor<1x8xf32>
// CHECK: dist.all_reduce {{.*}} (tensor<1x8xf32>) -> tensor<1x8xf32>
func.func @wide(%x: tensor<4x8xf16> {dist.sharding = #dist.sharding<["data", ""]>}) -> (tensor<1x8xf32> {dist.sharding = #dist.sharding<["", ""]>}) {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (tensor<4x8xf16>) -> tensor<1x8xf16>
  %1 = mlc.cast %0 {to = f32} : (tensor<1x8xf16>) -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// ... unless it is to be reduced first.
// CHECK-LABEL: @narrow
// CHECK: dist.all_reduce {{.*}} (tensor<1x8xf16>) -> tensor<1x8xf16>
// CHECK: mlc.cast {{.*}} -> tensor<1x8xf32>
func.func @narrow(%x: tensor<4x8xf16> {dist.sharding = #dist.sharding<["data", ""]>}) -> (tensor<1x8xf32> {dist.sharding = #dist.sharding<["", ""]>}) {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (tensor<4x8xf16>) -> tensor<1x8xf16>
  %1 = mlc.cast %0 {dist.reduce_first, to = f32} : (tensor<1x8xf16>) -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}
}
