// The k largest of a tensor that is split: by rows where another dim is, of all parts' candidates where its own is.
// RUN: split-file %s %t
// RUN: mlc-opt %t/rows.mlir --mlc-partition | FileCheck %t/rows.mlir
// RUN: mlc-opt %t/rows.mlir --mlc-partition --mlc-stack-ranks | FileCheck %t/rows.mlir --check-prefix=STACKED
// RUN: mlc-opt %t/wanted.mlir --mlc-partition | FileCheck %t/wanted.mlir
// RUN: mlc-opt %t/candidates.mlir --mlc-partition | FileCheck %t/candidates.mlir
// RUN: mlc-opt %t/few.mlir --mlc-partition | FileCheck %t/few.mlir
// RUN: mlc-opt %t/uneven.mlir --mlc-partition | FileCheck %t/uneven.mlir

//--- rows.mlir
// CHECK-NOT: dist.all_gather
// CHECK: mlc.top_k %arg0 {axis = 1
// CHECK-SAME: (tensor<3x40xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
// CHECK-NOT: dist.all_gather
// STACKED: mlc.top_k %{{.*}} {axis = 2
// STACKED-SAME: (tensor<2x3x40xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<6x40xf32> {dist.sharding = #dist.sharding<["a", ""]>}) -> (tensor<6x2xf32>, tensor<6x2xi64>) {
    %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<6x40xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
    return %v, %i : tensor<6x2xf32>, tensor<6x2xi64>
  }
}

//--- wanted.mlir
// What all have is cut for who wants parts.
// CHECK: %[[X:.*]] = mlc.slice %arg0
// CHECK: mlc.top_k %[[X]] {axis = 1
// CHECK-SAME: (tensor<3x40xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<6x40xf32>) -> (tensor<6x2xf32> {dist.sharding = #dist.sharding<["a", ""]>}, tensor<6x2xi64>) {
    %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<6x40xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
    return %v, %i : tensor<6x2xf32>, tensor<6x2xi64>
  }
}

//--- candidates.mlir
// CHECK: %[[V:.*]], %[[I:.*]] = mlc.top_k %arg0 {axis = 1 : i64, k = #mlc.int<3>, largest = false
// CHECK-NEXT: %[[P:.*]] = mlc.compute %[[I]]
// CHECK-SAME: x0[i, j] + i64(20 * n0 + min(1, n0))
// CHECK-DAG: %[[AV:.*]] = dist.all_gather %[[V]] {{.*}}extents = #mlc.dims<[6]>
// CHECK-DAG: %[[AI:.*]] = dist.all_gather %[[P]] {{.*}}extents = #mlc.dims<[6]>
// CHECK: %{{.*}}, %[[C:.*]] = mlc.top_k %[[AV]] {axis = 1 : i64, k = #mlc.int<3>, largest = false
// CHECK-NEXT: mlc.compute %[[AI]], %[[C]]
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<6x41xf32> {dist.sharding = #dist.sharding<["", "a"]>}) -> (tensor<6x3xf32>, tensor<6x3xi64>) {
    %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<3>, largest = false, sorted = true} : (tensor<6x41xf32>) -> (tensor<6x3xf32>, tensor<6x3xi64>)
    return %v, %i : tensor<6x3xf32>, tensor<6x3xi64>
  }
}

//--- few.mlir
// Candidates and their indices are more than all.
// CHECK: %[[X:.*]] = dist.all_gather %arg0
// CHECK-NEXT: mlc.top_k %[[X]]
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<6x8xf32> {dist.sharding = #dist.sharding<["", "a"]>}) -> (tensor<6x4xf32>, tensor<6x4xi64>) {
    %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<4>, largest = false, sorted = true} : (tensor<6x8xf32>) -> (tensor<6x4xf32>, tensor<6x4xi64>)
    return %v, %i : tensor<6x4xf32>, tensor<6x4xi64>
  }
}

//--- uneven.mlir
// The last part has one, and two are wanted.
// CHECK: %[[X:.*]] = dist.all_gather %arg0
// CHECK-NEXT: mlc.top_k %[[X]]
module attributes {dist.mesh = [#dist.axis<"a", 4>]} {
  func.func @main(%x: tensor<6x7xf64> {dist.sharding = #dist.sharding<["", "a"]>}) -> (tensor<6x2xf64>, tensor<6x2xi64>) {
    %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = false, sorted = true} : (tensor<6x7xf64>) -> (tensor<6x2xf64>, tensor<6x2xi64>)
    return %v, %i : tensor<6x2xf64>, tensor<6x2xi64>
  }
}
