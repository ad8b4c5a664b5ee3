// Programs of ranks whose parts are not alike, run by the evaluator.
// RUN: split-file %s %t
// RUN: mlc-eval %t/all.mlir --ranks --symbol=N=3 --symbol=E=7 --domain=rational --print | FileCheck %t/all.mlir
// RUN: mlc-eval %t/all.mlir --ranks --symbol=N=1 --symbol=E=4 --domain=rational --print | FileCheck %t/all.mlir --check-prefix=ALONE
// RUN: not mlc-eval %t/differs.mlir --ranks --symbol=N=2 2>&1 | FileCheck %t/differs.mlir
// RUN: not mlc-eval %t/differs.mlir --ranks --symbol=N=5000 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mlc-eval %t/differs.mlir --ranks 2>&1 | FileCheck %s --check-prefix=UNBOUND
// RUN: not mlc-eval %t/halo.mlir --ranks --symbol=L=2 2>&1 | FileCheck %t/halo.mlir
// RUN: not mlc-eval %t/root.mlir --ranks --symbol=N=2 2>&1 | FileCheck %t/root.mlir
// RUN: not mlc-eval %t/whole.mlir --ranks 2>&1 | FileCheck %t/whole.mlir
// RUN: not mlc-eval %t/partial.mlir --ranks 2>&1 | FileCheck %t/partial.mlir

// MANY: a mesh has 1 to 4096 ranks{{$}}
// UNBOUND: cannot evaluate N

//--- all.mlir
// Each result is the argument again, or what one can see of it: a part whose neighbours' elements were added and left
// out, what was gathered and scattered, sums, exchanged dims.
// CHECK: 0: [7] f32: [[X:.*]]
// CHECK: 1: [7] f32: [[X]]
// CHECK: 2: [7] f32: [[X]]
// CHECK: 3: [7, 2] f32: [[Y:.*]]
// CHECK: 4: [7, 2] f32: [[Y]]
// ALONE: 0: [4] f32: [[X:.*]]
// ALONE: 1: [4] f32: [[X]]
// ALONE: 2: [4] f32: [[X]]
#a = #dist.axis<"a", N>
!p = tensor<?xf32, #mlc.dims<[floordiv(E + N - 1 - rank.a, N)]>>
!q = tensor<?xf32, #mlc.dims<[floordiv(E + N - 1 - rank.a, N) + 2]>>
!e = tensor<?xf32, #mlc.dims<[E]>>
!r = tensor<?x2xf32, #mlc.dims<[floordiv(E + N - 1 - rank.a, N), 2]>>
!c = tensor<?x?xf32, #mlc.dims<[E, floordiv(2 + N - 1 - rank.a, N)]>>
module attributes {dist.mesh = [#a]} {
  func.func @main(%x: !p {dist.sharding = #dist.sharding<["a"]>}, %y: !r {dist.sharding = #dist.sharding<["a", ""]>})
      -> (!p {dist.sharding = #dist.sharding<["a"]>}, !e, !p {dist.sharding = #dist.sharding<["a"]>},
          !r {dist.sharding = #dist.sharding<["a", ""]>}, !c {dist.sharding = #dist.sharding<["", "a"]>}) {
    %h = dist.halo %x {axis = #a, dim = 0, low = 1, high = 1} : (!p) -> !q
    %m = mlc.slice %h {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[floordiv(E + N - 1 - rank.a, N)]>, steps = #mlc.dims<[1]>} : (!q) -> !p
    %g = dist.all_gather %x {axis = #a, dims = array<i64: 0>, extents = #mlc.dims<[E]>, units = #mlc.dims<[1]>} : (!p) -> !e
    %n = mlc.compute %g {definition = "(x; n) Y[i] = x[i] / f32(n)", dims = #mlc.dims<[E]>, integers = #mlc.dims<[N]>, reals = [], type = f32} : (!e) -> !e
    %s = dist.reduce_scatter %n {axis = #a, dims = array<i64: 0>, extents = #mlc.dims<[E]>, units = #mlc.dims<[1]>, reduction = "sum"} : (!e) -> !p
    %t = dist.all_to_all %y {axis = #a, split = 1, splitExtent = #mlc.int<2>, join = 0, joinExtent = #mlc.int<E>} : (!r) -> !c
    return %m, %g, %s, %y, %t : !p, !e, !p, !r, !c
  }
}

//--- differs.mlir
// CHECK: differs.mlir: result #0 is said to be the same on all ranks of 'a', but 0 and 1 have different ones
module attributes {dist.mesh = [#dist.axis<"a", N>]} {
  func.func @main(%x: tensor<2xf32> {dist.sharding = #dist.sharding<["a"]>}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

//--- halo.mlir
// CHECK: halo.mlir: at dist.halo: a halo of 3 elements is more than the 2 that rank 1 has; use fewer ranks
!x = tensor<?xf32, #mlc.dims<[L]>>
!y = tensor<?xf32, #mlc.dims<[L + 3]>>
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: !x {dist.sharding = #dist.sharding<["a"]>}) -> !y {
    %y = dist.halo %x {axis = #dist.axis<"a", 2>, dim = 0, low = 0, high = 3} : (!x) -> !y
    return %y : !y
  }
}

//--- root.mlir
// CHECK: root.mlir: at dist.broadcast: there is no rank 2 among 2
module attributes {dist.mesh = [#dist.axis<"a", N>]} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = dist.broadcast %x {axis = #dist.axis<"a", N>, root = 2} : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}

//--- partial.mlir
// CHECK: partial.mlir: argument #0 is partial, so that ranks may have anything that adds up; give it whole or split
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<2xf32> {dist.sharding = #dist.sharding<[""], partial = ["a"]>}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

//--- whole.mlir
// CHECK: whole.mlir: result #0 has parts that make [8], and its dist.whole says [4]
module attributes {dist.mesh = [#dist.axis<"a", 2>]} {
  func.func @main(%x: tensor<4xf32>)
      -> (tensor<4xf32> {dist.sharding = #dist.sharding<["a"]>, dist.whole = #mlc.dims<[4]>}) {
    return %x : tensor<4xf32>
  }
}
