// How many points there are: extents that may be negative, and what divides by them.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?x?xf32, #mlc.dims<[n, m]>>
!y = tensor<?xf32, #mlc.dims<[n]>>
!z = tensor<?x?x?xf32, #mlc.dims<[n, a, b]>>

//--- not proved: 1 x 60: 0 and -10
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = sum{r < 50 + n}(select(r + m < i + 50, f32(1), f32(0)))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = f32(50 + i - m)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}

//--- not refuted: no less than none
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = sum{r < 50 + n}(select(r + m < i + 50, f32(1), f32(0)))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = f32(max(50 + i - m, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}

//--- not proved: 1 x 60: 0 and -10
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = sum{r < n + 50 - m}(f32(1))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = f32(n + 50 - m)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}

//--- not proved: a product of two extents below 0 is above
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = sum{r < n - m, s < n - m}(f32(2))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = f32((n - m) * (n - m)) * f32(2)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}

//--- not proved: m = 0: the mean of nothing times nothing
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = sum{r < m}(f32(1) / f32(m))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = f32(1)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}

//--- not proved: m = 0: nothing, and one
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = sum{r < m}(f32(i) / f32(m))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x; n, m) Y[i] = f32(i)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}

//--- not proved: 0 x 0 x 62: 0 and 1
func.func @b(%x: !z) -> tensor<?xf32, #mlc.dims<[n - floordiv(a + 60 - b, 2)]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = select(n >= 1, f32(1), f32(0))", dims = #mlc.dims<[n - floordiv(a + 60 - b, 2)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - floordiv(a + 60 - b, 2)]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - floordiv(a + 60 - b, 2)]>>
}
func.func @a(%x: !z) -> tensor<?xf32, #mlc.dims<[n - floordiv(a + 60 - b, 2)]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = f32(1)", dims = #mlc.dims<[n - floordiv(a + 60 - b, 2)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - floordiv(a + 60 - b, 2)]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - floordiv(a + 60 - b, 2)]>>
}

//--- not proved: n = 0, b = 2, a = 1
func.func @b(%x: !z) -> tensor<?xf32, #mlc.dims<[n - a + b]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = select(n >= 1, f32(1), f32(0))", dims = #mlc.dims<[n - a + b]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - a + b]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - a + b]>>
}
func.func @a(%x: !z) -> tensor<?xf32, #mlc.dims<[n - a + b]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = f32(1)", dims = #mlc.dims<[n - a + b]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - a + b]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - a + b]>>
}

//--- proved: there is an element, so n is above a
func.func @b(%x: !z) -> tensor<?xf32, #mlc.dims<[n - a]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = select(n >= 1, f32(1), f32(0))", dims = #mlc.dims<[n - a]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - a]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - a]>>
}
func.func @a(%x: !z) -> tensor<?xf32, #mlc.dims<[n - a]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = f32(1)", dims = #mlc.dims<[n - a]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - a]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - a]>>
}

//--- not proved: n = 0, b = 0: 60 elements
func.func @b(%x: !z) -> tensor<?xf32, #mlc.dims<[n - min(a, b - 60)]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = select(n >= 1, f32(1), f32(0))", dims = #mlc.dims<[n - min(a, b - 60)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - min(a, b - 60)]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - min(a, b - 60)]>>
}
func.func @a(%x: !z) -> tensor<?xf32, #mlc.dims<[n - min(a, b - 60)]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = f32(1)", dims = #mlc.dims<[n - min(a, b - 60)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - min(a, b - 60)]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - min(a, b - 60)]>>
}

//--- not proved: n = 0, a = 1, b = 0: 60 elements
func.func @b(%x: !z) -> tensor<?xf32, #mlc.dims<[n - a * min(1, b - 60)]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = select(n >= 1, f32(1), f32(0))", dims = #mlc.dims<[n - a * min(1, b - 60)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - a * min(1, b - 60)]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - a * min(1, b - 60)]>>
}
func.func @a(%x: !z) -> tensor<?xf32, #mlc.dims<[n - a * min(1, b - 60)]>> {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = f32(1)", dims = #mlc.dims<[n - a * min(1, b - 60)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!z) -> tensor<?xf32, #mlc.dims<[n - a * min(1, b - 60)]>>
  return %0 : tensor<?xf32, #mlc.dims<[n - a * min(1, b - 60)]>>
}
