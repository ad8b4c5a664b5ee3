// A dim over two axes, and a weight over the axes of tensors and of data: parts of parts, for any numbers of ranks.
// RUN: split-file %s %t
// RUN: mlc-opt %t/batch.mlir --mlc-partition | FileCheck %t/batch.mlir
// RUN: mlc-opt %t/batch.mlir --mlc-partition --mlc-stack-ranks -o %t/ranks && mlc-verify %t/batch.mlir %t/ranks | FileCheck --check-prefix=PROOF %s
// RUN: mlc-opt %t/batch.mlir --mlc-partition | sed "s/dist.all_reduce \(.*\)$/mlc.neg \1/;/mlc.neg/s/{[^}]*}//" | mlc-opt --mlc-stack-ranks -o %t/lost && not mlc-verify %t/batch.mlir %t/lost 2>&1 | FileCheck --check-prefix=LOST %s
// RUN: mlc-opt %t/batch.mlir --mlc-partition -o %t/own && mlc-eval %t/own --ranks --symbol=D=2 --symbol=F=3 --symbol=L=1 --symbol=K=2 --domain=rational --print --seed=3 > %t/of-ranks && mlc-eval %t/batch.mlir --symbol=D=2 --symbol=F=3 --symbol=L=1 --symbol=K=2 --domain=rational --print --seed=3 | diff - %t/of-ranks
// RUN: mlc-opt %t/weight.mlir --mlc-partition | FileCheck %t/weight.mlir
// RUN: mlc-opt %t/weight.mlir --mlc-partition --mlc-stack-ranks -o %t/ranks && mlc-verify %t/weight.mlir %t/ranks | FileCheck --check-prefix=PROOF %s
// RUN: mlc-opt %t/uneven.mlir --mlc-partition -o %t/own && mlc-eval %t/own --ranks --domain=rational --print --seed=3 > %t/of-ranks && mlc-eval %t/uneven.mlir --domain=rational --print --seed=3 | diff - %t/of-ranks

// PROOF: proved
// LOST: refuted

// Fully sharded data parallelism with copies: each weight is gathered over `fsdp`, its gradient scattered there, and what is left is
// summed over `data`.
//--- batch.mlir
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<?x?xf32, #mlc.dims<[L, F * K]>>
// CHECK-NEXT: %[[W:.*]] = dist.all_gather %arg1 {axis = #dist.axis<"fsdp", F>
// CHECK-NEXT: mlc.matmul %arg0, %[[W]]
// CHECK: %[[G:.*]] = mlc.matmul
// CHECK-NEXT: %[[S:.*]] = dist.reduce_scatter %[[G]] {axis = #dist.axis<"fsdp", F>
// CHECK-NEXT: dist.all_reduce %[[S]] {axis = #dist.axis<"data", D>
module attributes {dist.mesh = [#dist.axis<"data", D>, #dist.axis<"fsdp", F>]} {
  func.func @main(%x: tensor<?x?xf32, #mlc.dims<[D * F * L, F * K]>> {dist.sharding = #dist.sharding<[["data", "fsdp"], ""]>},
                  %w: tensor<?x7xf32, #mlc.dims<[F * K, 7]>> {dist.sharding = #dist.sharding<["fsdp", ""]>})
      -> (tensor<?x7xf32, #mlc.dims<[D * F * L, 7]>> {dist.sharding = #dist.sharding<[["data", "fsdp"], ""]>},
          tensor<?x7xf32, #mlc.dims<[F * K, 7]>> {dist.sharding = #dist.sharding<["fsdp", ""]>})
      attributes {mlc.assume = ["D >= 1", "F >= 1", "L >= 1", "K >= 1"]} {
    %y = mlc.matmul %x, %w : (tensor<?x?xf32, #mlc.dims<[D * F * L, F * K]>>, tensor<?x7xf32, #mlc.dims<[F * K, 7]>>) -> tensor<?x7xf32, #mlc.dims<[D * F * L, 7]>>
    %t = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32, #mlc.dims<[D * F * L, F * K]>>) -> tensor<?x?xf32, #mlc.dims<[F * K, D * F * L]>>
    %g = mlc.matmul %t, %y : (tensor<?x?xf32, #mlc.dims<[F * K, D * F * L]>>, tensor<?x7xf32, #mlc.dims<[D * F * L, 7]>>) -> tensor<?x7xf32, #mlc.dims<[F * K, 7]>>
    return %y, %g : tensor<?x7xf32, #mlc.dims<[D * F * L, 7]>>, tensor<?x7xf32, #mlc.dims<[F * K, 7]>>
  }
}

// The weight's columns over `tensor`, and each part of them over `data`, as its moments might be.
//--- weight.mlir
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<5x?xf32, #mlc.dims<[5, K]>>
// CHECK: dist.all_gather %arg1 {axis = #dist.axis<"data", D>
// CHECK-NOT: axis = #dist.axis<"tensor"
module attributes {dist.mesh = [#dist.axis<"tensor", T>, #dist.axis<"data", D>]} {
  func.func @main(%x: tensor<?x5xf32, #mlc.dims<[D * L, 5]>> {dist.sharding = #dist.sharding<["data", ""]>},
                  %w: tensor<5x?xf32, #mlc.dims<[5, T * D * K]>> {dist.sharding = #dist.sharding<["", ["tensor", "data"]]>})
      -> (tensor<?x?xf32, #mlc.dims<[D * L, T * D * K]>> {dist.sharding = #dist.sharding<["data", "tensor"]>})
      attributes {mlc.assume = ["D >= 1", "T >= 1", "L >= 1", "K >= 1"]} {
    %y = mlc.matmul %x, %w : (tensor<?x5xf32, #mlc.dims<[D * L, 5]>>, tensor<5x?xf32, #mlc.dims<[5, T * D * K]>>) -> tensor<?x?xf32, #mlc.dims<[D * L, T * D * K]>>
    return %y : tensor<?x?xf32, #mlc.dims<[D * L, T * D * K]>>
  }
}

// Eleven rows for 2 times 3 ranks: 2, 2, 2 and 2, 2, 1.
//--- uneven.mlir
module attributes {dist.mesh = [#dist.axis<"a", 2>, #dist.axis<"b", 3>]} {
  func.func @main(%x: tensor<11x4xf32> {dist.sharding = #dist.sharding<[["a", "b"], ""]>}, %w: tensor<4x7xf32> {dist.sharding = #dist.sharding<["", ["a", "b"]]>})
      -> (tensor<11x7xf32> {dist.sharding = #dist.sharding<[["a", "b"], ""]>}, tensor<7x11xf32> {dist.sharding = #dist.sharding<[["a", "b"], ""]>}, tensor<1x7xf32> {dist.sharding = #dist.sharding<["", ""]>}) {
    %y = mlc.matmul %x, %w : (tensor<11x4xf32>, tensor<4x7xf32>) -> tensor<11x7xf32>
    %t = mlc.transpose %y {permutation = array<i64: 1, 0>} : (tensor<11x7xf32>) -> tensor<7x11xf32>
    %s = mlc.reduce %y {axes = array<i64: 0>, kind = "max"} : (tensor<11x7xf32>) -> tensor<1x7xf32>
    return %y, %t, %s : tensor<11x7xf32>, tensor<7x11xf32>, tensor<1x7xf32>
  }
}
