// Functions that differ only at sizes, or for integers, far from those that are drawn first.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!one = tensor<1xf32>
!i = tensor<?xi32, #mlc.dims<[n]>>

//--- refuted: the last 100 are not all
func.func @b(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n, e) Y[i] = sum{r < n}(x<0>[r + e])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n, max(n - 100, 0)]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}

//--- refuted: under a condition that no small size satisfies
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 64", "5 divides n"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n - 1]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 1]>>
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 1]>>) -> !one
  return %1 : !one
}

//--- refuted: from element 200 on another number
func.func @b(%x: !x) -> !x {
  %0 = mlc.compute %x {definition = "(x) Y[i] = x[i] * select(i < 200, f32(1), f32(2))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %0 : !x
}
func.func @a(%x: !x) -> !x {
  return %x : !x
}

//--- refuted: a product of integers that are not zero may wrap to it
func.func @b(%x: !i {mlc.assume = ["non-zero"]}, %y: !i {mlc.assume = ["non-zero"]}) -> tensor<?xi1, #mlc.dims<[n]>> {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !i
  %p = mlc.mul %x, %y : (!i, !i) -> !i
  %1 = mlc.compare %p, %z {predicate = "eq"} : (!i, !i) -> tensor<?xi1, #mlc.dims<[n]>>
  return %1 : tensor<?xi1, #mlc.dims<[n]>>
}
func.func @a(%x: !i, %y: !i) -> tensor<?xi1, #mlc.dims<[n]>> {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !i
  %1 = mlc.compare %x, %z {predicate = "eq"} : (!i, !i) -> tensor<?xi1, #mlc.dims<[n]>>
  return %1 : tensor<?xi1, #mlc.dims<[n]>>
}

//--- not refuted: a parameter is drawn within narrow bounds
func.func @b(%x: !x) -> !x attributes {mlc.assume = ["real t > 0.0", "real t < 0.1"]} {
  %v1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32} : () -> !x
  %v2 = mlc.mul %x, %v1 : (!x, !x) -> !x
  %v3 = mlc.relu %v2 : (!x) -> !x
  return %v3 : !x
}
func.func @a(%x: !x) -> !x {
  %v1 = mlc.relu %x : (!x) -> !x
  %v2 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32} : () -> !x
  %v3 = mlc.mul %v1, %v2 : (!x, !x) -> !x
  return %v3 : !x
}
