// RUN: mlc-opt %s --mlc-partition | FileCheck %s
// RUN: mlc-opt %s --mlc-partition --mlc-stack-ranks -o %t && mlc-verify %s %t | FileCheck --check-prefix=PROOF %s

// PROOF-NOT: refuted
// PROOF: proved

// A result that is said to be partial, and is of a gradient that somebody else
// reads as well: it stays as it is, and is reduced for the others.

// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = mlc.reduce
// CHECK: %[[K:.*]] = mlc.add %{{.*}}, %[[S]]
// CHECK: %[[A:.*]] = dist.all_reduce %[[S]]
// CHECK: %[[E:.*]] = mlc.exp %[[A]]
// What all have is a term of the first rank's.
// CHECK: %[[T:.*]] = mlc.compute %[[E]] {definition = "(x0; n0) Y[i, j] = select(n0 == 0, x0[i, j], 0)", dims = #mlc.dims<[1, 3]>, integers = #mlc.dims<[rank.data]>
// Of a maximum it is one as it is.
// CHECK: %[[M:.*]] = mlc.max
// CHECK: return %[[K]], %[[T]], %[[M]]
module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @main(%x: tensor<8x3xf32> {dist.sharding = #dist.sharding<["data", ""]>},
                  %kept: tensor<8x3xf32> {dist.sharding = #dist.sharding<["data", ""]>})
      -> (tensor<1x3xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["data"]>},
          tensor<1x3xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["data"]>},
          tensor<1x3xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["data" max]>}) {
    %0 = mlc.reduce %x {axes = array<i64: 0>, kind = "sum"} : (tensor<8x3xf32>) -> tensor<1x3xf32>
    %1 = mlc.reduce %kept {axes = array<i64: 0>, kind = "sum"} : (tensor<8x3xf32>) -> tensor<1x3xf32>
    %2 = mlc.add %1, %0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %3 = mlc.exp %0 : (tensor<1x3xf32>) -> tensor<1x3xf32>
    %4 = mlc.max %3, %3 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    return %2, %3, %4 : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
  }
}
