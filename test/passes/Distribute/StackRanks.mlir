// What all ranks do together, and what has no such form.
// RUN: split-file %s %t
// RUN: mlc-opt %t/good.mlir --mlc-stack-ranks --mlc-stack-ranks=function=requires | FileCheck %t/good.mlir
// RUN: mlc-opt %t/good.mlir --mlc-stack-ranks --mlc-stack-ranks=function=requires | not grep "dist\.sharding\|dist\.broadcast\|dist\.halo\|dist\.all_reduce"
// RUN: mlc-opt %t/wrong.mlir --mlc-stack-ranks --split-input-file --verify-diagnostics
// RUN: mlc-opt %t/other.mlir --mlc-stack-ranks=function=other --split-input-file --verify-diagnostics

//--- good.mlir
// Tensors that are whole stay as they are; those of which ranks have parts get the rank as first dim. What all get alike
// has none; of two axes each is a dim.
// CHECK: func.func @main(%arg0: tensor<?x4xf32, #mlc.dims<[B * N, 4]>>, %arg1: tensor<4x?xf32, #mlc.dims<[4, L * M]>>, %arg2: tensor<4x4xf32>)
// CHECK-SAME: -> (tensor<?x?xf32, #mlc.dims<[B * N, L * M]>>, tensor<?x4xf32, #mlc.dims<[B, 4]>>, tensor<4x4xf32>)
// CHECK: %[[X:.*]] = mlc.compute %arg0 {definition = "(x0; n1) Y[i, j, u] = x0[i * n1 + j, u]", dims = #mlc.dims<[N, B, 4]>
// CHECK: %[[W:.*]] = mlc.compute %arg1 {definition = "(x0; n1) Y[i, j, u] = x0[j, i * n1 + u]", dims = #mlc.dims<[M, 4, L]>
// CHECK: %[[Y:.*]] = mlc.compute %[[X]], %[[W]] {{.*}}sum{{.*}}(x0[i, u, r] * x1[j, r, v]){{.*}} dims = #mlc.dims<[N, M, B, L]>
// CHECK: %[[S:.*]] = mlc.compute %[[X]] {{.*}}sum{{.*}} dims = #mlc.dims<[B, 4]>
// CHECK: %[[Z:.*]] = mlc.relu %arg2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: %[[R:.*]] = mlc.compute %[[Y]] {{.*}}floordiv({{.*}}floordiv({{.*}} dims = #mlc.dims<[B * N, L * M]>
// CHECK: return %[[R]], %[[S]], %[[Z]]
// What operators require of sizes is required of the function, for whatever rank.
// CHECK-LABEL: func.func @requires
// CHECK-SAME: mlc.require = ["B >= 2", "M > 1", "B * mod(rank.data, N) + B - 1 < B * N"]
!x = tensor<?x4xf32, #mlc.dims<[B, 4]>>
!w = tensor<4x?xf32, #mlc.dims<[4, L]>>
!y = tensor<?x?xf32, #mlc.dims<[B, L]>>
!h = tensor<?x4xf32, #mlc.dims<[B + 3, 4]>>
!b = tensor<?xf32, #mlc.dims<[B]>>
module attributes {dist.mesh = [#dist.axis<"data", N>, #dist.axis<"model", M>]} {
  func.func @main(%x: !x {dist.sharding = #dist.sharding<["data", ""]>}, %w: !w {dist.sharding = #dist.sharding<["", "model"]>},
                  %c: tensor<4x4xf32>) -> (!y {dist.sharding = #dist.sharding<["data", "model"]>}, !x, tensor<4x4xf32>) {
    %y = mlc.matmul %x, %w : (!x, !w) -> !y
    %s = dist.all_reduce %x {axis = #dist.axis<"data", N>, reduction = "sum"} : (!x) -> !x
    %z = mlc.relu %c : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y, %s, %z : !y, !x, tensor<4x4xf32>
  }
  func.func @requires(%x: !x {dist.sharding = #dist.sharding<["data", ""]>}, %a: tensor<?xf32, #mlc.dims<[B * N]>>)
      -> (!h {dist.sharding = #dist.sharding<["data", ""]>}, !x {dist.sharding = #dist.sharding<["data", ""]>}, !b {dist.sharding = #dist.sharding<["data"]>}) {
    %h = dist.halo %x {axis = #dist.axis<"data", N>, dim = 0, low = 1, high = 2} : (!x) -> !h
    %b = dist.broadcast %x {axis = #dist.axis<"model", M>, root = 1} : (!x) -> !x
    %s = mlc.slice %a {starts = #mlc.dims<[B * rank.data]>, sizes = #mlc.dims<[B]>, steps = #mlc.dims<[1]>} : (tensor<?xf32, #mlc.dims<[B * N]>>) -> !b
    return %h, %b, %s : !h, !x, !b
  }
}

//--- wrong.mlir
module attributes {dist.mesh = [#dist.axis<"a", N>]} {
  // expected-error @+1 {{argument #0 has parts that make #mlc.dims<[L * N]>, and its dist.whole says #mlc.dims<[L * N + 1]>}}
  func.func @main(%x: tensor<?xf32, #mlc.dims<[L]>> {dist.sharding = #dist.sharding<["a"]>, dist.whole = #mlc.dims<[L * N + 1]>}) { return }
}

// -----

// expected-error @+1 {{dist.mesh must be a list of #dist.axis, got 4 : i64}}
module attributes {dist.mesh = 4} {
  func.func @main(%x: tensor<4xf32>) { return }
}

// -----

// expected-error @+1 {{dist.mesh must be a list of #dist.axis, got 4 : i64}}
module attributes {dist.mesh = [4]} {
  func.func @main(%x: tensor<4xf32>) { return }
}

// -----

// expected-error @+1 {{dist.mesh has two axes called 'a'}}
module attributes {dist.mesh = [#dist.axis<"a", 2>, #dist.axis<"a", N>]} {
  func.func @main(%x: tensor<4xf32>) { return }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  // expected-error @+1 {{argument #0 must have a #dist.sharding with 1 dims as its dist.sharding}}
  func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<["a", ""]>}) { return }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  // expected-error @+1 {{argument #0 is split over 'b', which is no axis of the module's dist.mesh}}
  func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<["b"]>}) { return }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  // expected-error @+1 {{argument #0 is partial, so that ranks may have anything that adds up; give it whole or split}}
  func.func @main(%x: tensor<4xf32> {dist.sharding = #dist.sharding<[""], partial = ["a"]>}) { return }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  // expected-error @+1 {{argument #0 must be a ranked tensor with named dims}}
  func.func @main(%x: tensor<?xf32>) { return }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  // expected-error @+1 {{argument #0 has a dim of floordiv(-1 * rank.a, 2) + 3, which differs between ranks; choose sizes that 'a' divides, or evaluate each rank by itself}}
  func.func @main(%x: tensor<?xf32, #mlc.dims<[floordiv(6 - rank.a, 2)]>> {dist.sharding = #dist.sharding<["a"]>}) { return }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<5xf32>) {
    // expected-error @+1 {{'mlc.slice' op has a size of rank.a + 1, which differs between ranks; choose sizes that 'a' divides, or evaluate each rank by itself}}
    %0 = mlc.slice %x {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[rank.a + 1]>, steps = #mlc.dims<[1]>} : (tensor<5xf32>) -> tensor<?xf32, #mlc.dims<[rank.a + 1]>>
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<5xf32>) {
    // expected-error @+1 {{'mlc.compute' op divides by rank.a + 1, which differs between ranks; evaluate each rank by itself}}
    %0 = mlc.compute %x {definition = "(x; d) Y[i] = x<0>[d]", dims = #mlc.dims<[5]>, integers = #mlc.dims<[floordiv(4, rank.a + 1)]>, reals = [], type = f32} : (tensor<5xf32>) -> tensor<5xf32>
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<5xf32>) {
    // expected-error @+1 {{'mlc.top_k' op has a size that differs between ranks; choose sizes that axes divide, or evaluate each rank by itself}}
    %0:2 = mlc.top_k %x {axis = 0, k = #mlc.int<rank.a + 1>, largest = true, sorted = true} : (tensor<5xf32>) -> (tensor<?xf32, #mlc.dims<[rank.a + 1]>>, tensor<?xi64, #mlc.dims<[rank.a + 1]>>)
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<1x8x6xf32>) {
    // expected-error @+1 {{'mlc.laid_out' op has a size of rank.a + 6, which differs between ranks; choose sizes that 'a' divides, or evaluate each rank by itself}}
    %0 = mlc.laid_out %x {layouts = [#mlc.layout<[a, b, c]>, #mlc.layout<[a, b, c]>], plain_attributes = {high = #mlc.dims<[0, 0, rank.a]>, low = #mlc.dims<[0, 0, 0]>, mode = "constant", value = #mlc.real<0.0>}, plain_op = "mlc.pad"} : (tensor<1x8x6xf32>) -> tensor<1x8x?xf32, #mlc.dims<[1, 8, rank.a + 6]>>
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<5xf32> {dist.sharding = #dist.sharding<["a"]>}) {
    // expected-error @+1 {{'builtin.unrealized_conversion_cast' op has no definition, by which it could be carried out for all ranks; leave it whole, or evaluate each rank by itself}}
    %0 = builtin.unrealized_conversion_cast %x : tensor<5xf32> to tensor<5xi32>
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<5xf32>) {
    // expected-error @+1 {{'dist.shift' op exchanges over #dist.axis<"a", 3>, which is no axis of the module's dist.mesh}}
    %0 = dist.shift %x {axis = #dist.axis<"a", 3>, by = 1} : (tensor<5xf32>) -> tensor<5xf32>
    return
  }
}

//--- other.mlir
// expected-error @+1 {{has no function @other of one block to stack}}
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<4xf32>) { return }
}
