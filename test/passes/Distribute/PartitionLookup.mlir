// Lookups in a table whose rows are split: in parts where that moves fewer bytes than the table has.
// RUN: split-file %s %t
// RUN: mlc-opt %t/large.mlir --mlc-partition | FileCheck %t/large.mlir
// RUN: mlc-opt %t/small.mlir --mlc-partition | FileCheck %t/small.mlir
// RUN: mlc-opt %t/wanted.mlir --mlc-partition | FileCheck %t/wanted.mlir
// RUN: mlc-opt %t/axes.mlir --mlc-partition | FileCheck %t/axes.mlir

//--- large.mlir
// What is out of range of the whole, as that wraps it, is so of each part.
// CHECK: %[[Y:.*]] = mlc.compute %arg0, %arg1
// CHECK-SAME: x0<0>[select(index(x1[i]) < 0, index(x1[i]) + 100 - 50 * n0, index(x1[i]) - 50 * n0), j]
// CHECK: dist.all_reduce %[[Y]] {{.*}}reduction = "sum"
// CHECK-NOT: dist.all_gather
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<100x4xf32> {dist.sharding = #dist.sharding<["a", ""]>}, %i: tensor<8xi64>) -> tensor<8x4xf32> {
    %y = mlc.gather %x, %i {axis = 0 : i64} : (tensor<100x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

//--- small.mlir
// CHECK: %[[X:.*]] = dist.all_gather %arg0
// CHECK-NEXT: mlc.gather %[[X]], %arg1
// CHECK-NOT: dist.all_reduce
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<6x4xf32> {dist.sharding = #dist.sharding<["a", ""]>}, %i: tensor<8xi64>) -> tensor<8x4xf32> {
    %y = mlc.gather %x, %i {axis = 0 : i64} : (tensor<6x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

//--- wanted.mlir
// CHECK: %[[Y:.*]] = mlc.compute %arg0, %arg1
// CHECK: dist.reduce_scatter %[[Y]] {{.*}}dims = array<i64: 0>{{.*}}reduction = "sum"
// CHECK-NOT: dist.all
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<100x4xf32> {dist.sharding = #dist.sharding<["a", ""]>}, %i: tensor<8xi64>)
      -> (tensor<8x4xf32> {dist.sharding = #dist.sharding<["a", ""]>}) {
    %y = mlc.gather %x, %i {axis = 0 : i64} : (tensor<100x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

//--- axes.mlir
// The batch on one axis, the vocabulary on the other, as in Megatron-LM; the gradient stays on both ranks' rows.
// CHECK: %[[Y:.*]] = mlc.compute %arg0, %arg1
// CHECK-SAME: -> tensor<4x4xf32>
// CHECK: dist.all_reduce %[[Y]] {axis = #dist.axis<"model", 2>, reduction = "sum"}
// CHECK-NOT: dist.all_gather
// CHECK: dist.all_reduce %{{.*}} {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<50x4xf32>) -> tensor<50x4xf32>
// CHECK-NOT: dist.
module attributes {dist.mesh = [#dist.axis<"data", 2>, #dist.axis<"model", 2>]} {
  func.func @main(%x: tensor<100x4xf32> {dist.sharding = #dist.sharding<["model", ""]>, mlc.state = "table"},
                  %i: tensor<8xi64> {dist.sharding = #dist.sharding<["data"]>})
      -> (tensor<8x4xf32>, tensor<100x4xf32> {dist.sharding = #dist.sharding<["model", ""]>}) {
    %y = mlc.gather %x, %i {axis = 0 : i64} : (tensor<100x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
    %s = mlc.mul %y, %y : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %z = mlc.fill {dims = #mlc.dims<[100, 4]>, value = #mlc.real<0.0>, type = f32} : () -> tensor<100x4xf32>
    %g = mlc.scatter_add %z, %i, %s {axis = 0 : i64} : (tensor<100x4xf32>, tensor<8xi64>, tensor<8x4xf32>) -> tensor<100x4xf32>
    return %s, %g : tensor<8x4xf32>, tensor<100x4xf32>
  }
}
