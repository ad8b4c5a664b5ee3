// Integers of w bits are numbers modulo 2^w.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!t = tensor<?xi32, #mlc.dims<[n]>>
!b = tensor<?xi1, #mlc.dims<[n]>>
!one = tensor<1xi32>

//--- not proved: 2 x is 0 where x is -2^31
func.func @b(%x: !t) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !t
  %0 = mlc.add %x, %x : (!t, !t) -> !t
  %1 = mlc.compare %0, %z {predicate = "eq"} : (!t, !t) -> !b
  return %1 : !b
}
func.func @a(%x: !t) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !t
  %1 = mlc.compare %x, %z {predicate = "eq"} : (!t, !t) -> !b
  return %1 : !b
}
//--- not refuted: 3 x is 0 where x is, for 3 has an inverse
func.func @b(%x: !t) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !t
  %0 = mlc.add %x, %x : (!t, !t) -> !t
  %1 = mlc.add %0, %x : (!t, !t) -> !t
  %2 = mlc.compare %1, %z {predicate = "eq"} : (!t, !t) -> !b
  return %2 : !b
}
func.func @a(%x: !t) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !t
  %1 = mlc.compare %z, %x {predicate = "eq"} : (!t, !t) -> !b
  return %1 : !b
}
//--- not proved: a product of what is not 0 may be 0
func.func @b(%x: !t {mlc.assume = ["non-zero"]}, %y: !t {mlc.assume = ["non-zero"]}, %z: !t) -> !t {
  return %z : !t
}
func.func @a(%x: !t, %y: !t, %z: !t) -> !t {
  %p = mlc.mul %x, %y : (!t, !t) -> !t
  %q = mlc.div %z, %p : (!t, !t) -> !t
  %r = mlc.sub %z, %q : (!t, !t) -> !t
  %s = mlc.add %r, %q : (!t, !t) -> !t
  return %s : !t
}
//--- not proved: a sum of what is positive may be 0
func.func @b(%x: !t {mlc.assume = ["positive"]}, %y: !t {mlc.assume = ["positive"]}, %z: !t) -> !t {
  return %z : !t
}
func.func @a(%x: !t, %y: !t, %z: !t) -> !t {
  %p = mlc.add %x, %y : (!t, !t) -> !t
  %q = mlc.div %z, %p : (!t, !t) -> !t
  %r = mlc.sub %z, %q : (!t, !t) -> !t
  %s = mlc.add %r, %q : (!t, !t) -> !t
  return %s : !t
}
//--- not refuted: an odd multiple of what is not 0 is not 0
func.func @b(%x: !t {mlc.assume = ["non-zero"]}, %z: !t) -> !t {
  return %z : !t
}
func.func @a(%x: !t, %z: !t) -> !t {
  %two = mlc.add %x, %x : (!t, !t) -> !t
  %p = mlc.add %two, %x : (!t, !t) -> !t
  %q = mlc.div %z, %p : (!t, !t) -> !t
  %r = mlc.sub %z, %q : (!t, !t) -> !t
  %s = mlc.add %r, %q : (!t, !t) -> !t
  return %s : !t
}
//--- refuted: at most is not more than
func.func @b(%x: !t, %y: !t) -> !b {
  %0 = mlc.compare %x, %y {predicate = "le"} : (!t, !t) -> !b
  return %0 : !b
}
func.func @a(%x: !t, %y: !t) -> !b {
  %0 = mlc.compare %x, %y {predicate = "gt"} : (!t, !t) -> !b
  return %0 : !b
}
//--- proved: at most is not more than, turned around
func.func @b(%x: !t, %y: !t) -> !b {
  %0 = mlc.compare %x, %y {predicate = "le"} : (!t, !t) -> !b
  return %0 : !b
}
func.func @a(%x: !t, %y: !t) -> !b {
  %0 = mlc.compare %y, %x {predicate = "ge"} : (!t, !t) -> !b
  return %0 : !b
}
//--- not proved: a square is not always at least 0
func.func @b(%x: !t) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = i32} : () -> !t
  %0 = mlc.mul %x, %x : (!t, !t) -> !t
  %1 = mlc.compare %0, %z {predicate = "ge"} : (!t, !t) -> !b
  return %1 : !b
}
func.func @a(%x: !t) -> !b {
  %1 = mlc.compare %x, %x {predicate = "eq"} : (!t, !t) -> !b
  return %1 : !b
}
//--- proved: sums and products are those of a ring
func.func @b(%x: !t, %y: !t, %z: !t) -> !t {
  %0 = mlc.add %x, %y : (!t, !t) -> !t
  %1 = mlc.mul %0, %z : (!t, !t) -> !t
  return %1 : !t
}
func.func @a(%x: !t, %y: !t, %z: !t) -> !t {
  %0 = mlc.mul %z, %x : (!t, !t) -> !t
  %1 = mlc.mul %y, %z : (!t, !t) -> !t
  %2 = mlc.add %1, %0 : (!t, !t) -> !t
  return %2 : !t
}
//--- refuted: of nothing, any is false and a maximum the least number
func.func @b(%x: !b) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = i32(any{r < n}(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = i32} : (!b) -> !one
  return %0 : !one
}
func.func @a(%x: !b) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = max{r < n}(i32(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = i32} : (!b) -> !one
  return %0 : !one
}
//--- refuted: of nothing, all is true and a minimum the largest number
func.func @b(%x: !b) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = i32(all{r < n}(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = i32} : (!b) -> !one
  return %0 : !one
}
func.func @a(%x: !b) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = min{r < n}(i32(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = i32} : (!b) -> !one
  return %0 : !one
}
