// Sums whose terms are paired by a map that leaves out points.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!one = tensor<1xf32>
!p = tensor<?x?xf32, #mlc.dims<[n, k]>>
!w = tensor<?x?xf32, #mlc.dims<[k, m]>>
!y = tensor<?x?xf32, #mlc.dims<[n, m]>>
!c = tensor<1x1x?xf32, #mlc.dims<[1, 1, n]>>
!kernel = tensor<1x1x3xf32>
!d = tensor<1x1x?xf32, #mlc.dims<[1, 1, n - 2]>>

//--- proved: a sum is the sum of its first element and the rest
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n - 1]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 1]>>
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 1]>>) -> !one
  %2 = mlc.slice %x {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[1]>, steps = #mlc.dims<[1]>} : (!x) -> !one
  %3 = mlc.add %2, %1 : (!one, !one) -> !one
  return %3 : !one
}

//--- not proved: n = 8, ones: 8 and 7
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n - 1]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 1]>>
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 1]>>) -> !one
  return %1 : !one
}

//--- not proved: the first 100 are left out
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 120"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[100]>, sizes = #mlc.dims<[n - 100]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 100]>>
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 100]>>) -> !one
  return %1 : !one
}

//--- not proved: the greatest may be the first
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n - 1]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 1]>>
  %1 = mlc.reduce %0 {kind = "max", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 1]>>) -> !one
  return %1 : !one
}

//--- not proved: the first factor is left out
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.reduce %x {kind = "prod", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n - 1]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 1]>>
  %1 = mlc.reduce %0 {kind = "prod", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 1]>>) -> !one
  return %1 : !one
}

//--- not proved: n = 150: 150 and 100
func.func @b(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n, e) Y[i] = sum{r < n}(x<0>[r + e])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n, max(n - 100, 0)]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}

//--- not proved: n = 150: the last 50 of the other end
func.func @b(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n, e) Y[i] = sum{r < n}(x<0>[r - e])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n, max(n - 100, 0)]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}

//--- proved: zeros outside, then all
func.func @b(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n, e) Y[i] = sum{r < n + e}(x<0>[r - e])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n, 5]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}

//--- not proved: every second is left out
func.func @b(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x<0>[2 * r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}

//--- proved: backwards
func.func @b(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < n}(x[n - 1 - r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !one
  return %0 : !one
}

//--- not proved: a product of matrices loses its first k
func.func @b(%x: !p, %w: !w) -> !y attributes {mlc.assume = ["k >= 8", "n >= 1", "m >= 1"]} {
  %0 = mlc.matmul %x, %w : (!p, !w) -> !y
  return %0 : !y
}
func.func @a(%x: !p, %w: !w) -> !y {
  %0 = mlc.slice %x {starts = #mlc.dims<[0, 1]>, sizes = #mlc.dims<[n, k - 1]>, steps = #mlc.dims<[1, 1]>} : (!p) -> tensor<?x?xf32, #mlc.dims<[n, k - 1]>>
  %1 = mlc.slice %w {starts = #mlc.dims<[1, 0]>, sizes = #mlc.dims<[k - 1, m]>, steps = #mlc.dims<[1, 1]>} : (!w) -> tensor<?x?xf32, #mlc.dims<[k - 1, m]>>
  %2 = mlc.matmul %0, %1 : (tensor<?x?xf32, #mlc.dims<[n, k - 1]>>, tensor<?x?xf32, #mlc.dims<[k - 1, m]>>) -> !y
  return %2 : !y
}

//--- not proved: a convolution loses its first tap
func.func @b(%x: !c, %w: !kernel) -> !d attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x, %w {definition = "(x, w; n) Y[a, b, i] = sum{r < 3}(x[0, 0, i + r] * w[0, 0, r])", dims = #mlc.dims<[1, 1, n - 2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!c, !kernel) -> !d
  return %0 : !d
}
func.func @a(%x: !c, %w: !kernel) -> !d {
  %0 = mlc.compute %x, %w {definition = "(x, w; n) Y[a, b, i] = sum{r < 2}(x[0, 0, i + r + 1] * w[0, 0, r + 1])", dims = #mlc.dims<[1, 1, n - 2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!c, !kernel) -> !d
  return %0 : !d
}
