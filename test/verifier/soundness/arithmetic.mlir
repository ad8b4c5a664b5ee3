// Sums, products, maxima and counts of indices: what ranges, quotients and signs decide.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?x?xf32, #mlc.dims<[n, m]>>
!v = tensor<?xf32, #mlc.dims<[n]>>

//--- not proved: Y[i] = max{r < i0}(f32(0)), Y[i] = f32(0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(abs(x[r])), Y[i] = max(max{r < i0}(abs(x[r])), f32(0))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(abs(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max(max{r < i0}(abs(x[r])), f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x<0>[floordiv(r, 2)]), Y[i] = f32(2) * sum{r < floordiv(i0, 2)}(x<0>[r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[floordiv(r, 2)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(2) * sum{r < floordiv(i0, 2)}(x<0>[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x<0>[mod(r, 2)]), Y[i] = f32(floordiv(i0, 2)) * (x<0>[0] + x<0>[1])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[mod(r, 2)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0, 2)) * (x<0>[0] + x<0>[1])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = prod{r < i0 - 50}(f32(2)), Y[i] = prod{r < i0}(f32(2)) / prod{r < 50}(f32(2))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0 - 50}(f32(2))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0}(f32(2)) / prod{r < 50}(f32(2))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- proved: Y[i] = sum{r < i0 - 50}(x[r]), Y[i] = sum{r < i0}(x[r]) - sum{r < 50}(x<0>[i0 - 50 + r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0 - 50}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r]) - sum{r < 50}(x<0>[i0 - 50 + r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- proved: Y[i] = sum{r < i0 - 50}(x[r]), Y[i] = sum{r < i0}(x[r]) - sum{r < 50}(x<0>[i0 - 1 - r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0 - 50}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r]) - sum{r < 50}(x<0>[i0 - 1 - r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < max(i0 - 50, 0)}(x<0>[r]), Y[i] = sum{r < i0}(x[r]) - sum{r < 50}(x<0>[r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < max(i0 - 50, 0)}(x<0>[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r]) - sum{r < 50}(x<0>[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(f32(r)), Y[i] = f32(floordiv(i0 * i0, 2))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(f32(r))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0 * i0, 2))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r] * x[i0 - 1 - r]), Y[i] = sum{r < i0}(x[r] * x[r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r] * x[i0 - 1 - r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r] * x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i0}(x[r] * x[s]), Y[i] = sum{r < i0}(x[r] * x[r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0, s < i0}(x[r] * x[s])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r] * x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i0}(select(r < s, x[r] * x[s], f32(0))), Y[i] = sum{r < i0, s < i0}(select(r <= s, x[r] * x[s], f32(0)))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0, s < i0}(select(r < s, x[r] * x[s], f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0, s < i0}(select(r <= s, x[r] * x[s], f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i0}(select(r < s, x[r], f32(0))), Y[i] = sum{r < i0, s < i0}(select(s < r, x[r], f32(0)))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0, s < i0}(select(r < s, x[r], f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0, s < i0}(select(s < r, x[r], f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0 + 1}(x<0>[r - 1]) - x<0>[0]
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 1"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0 + 1}(x<0>[r - 1]) - x<0>[0]", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0}(x<0>[max(r - 3, 3 - r)])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[max(r - 3, 3 - r)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0}(x<0>[max(r - 3, 0)])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[max(r - 3, 0)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0}(x<0>[min(r, 99)])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[min(r, 99)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0}(x<0>[min(r, i0 - 2)])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[min(r, i0 - 2)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0}(x<0>[r + floordiv(r, 100)])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[r + floordiv(r, 100)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < i0}(x<0>[mod(r, 100)])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x<0>[mod(r, 100)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r]), Y[i] = sum{r < 100}(x<0>[r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < 100}(x<0>[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(x[r]), Y[i] = max{r < 100}(x<0>[r])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 1"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < 100}(x<0>[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(x[r]), Y[i] = max{r < i0 - 1}(x[r + 1])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0 - 1}(x[r + 1])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(x[r]), Y[i] = max{r < i0 - 1}(x[r])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0 - 1}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(x[r]), Y[i] = max{r < i0}(x<0>[2 * r])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(x<0>[2 * r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = min{r < i0}(x[r]), Y[i] = min{r < i0}(x<0>[r + 1])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = min{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = min{r < i0}(x<0>[r + 1])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = prod{r < i0}(x[r]), Y[i] = prod{r < i0 - 1}(x[r + 1])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0 - 1}(x[r + 1])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = prod{r < i0}(x[r]), Y[i] = prod{r < i0 - 1}(x[r])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0 - 1}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = prod{r < i0}(x[r]), Y[i] = prod{r < i0, s < 1}(x<0>[r + s + max(i0 - 100, 0)])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = prod{r < i0, s < 1}(x<0>[r + s + max(i0 - 100, 0)])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(select(r < i, f32(1), f32(0))), Y[i] = f32(i)
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[n + 5]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(r < i, f32(1), f32(0)))", dims = #mlc.dims<[n + 5]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n + 5]>>
  return %0 : tensor<?xf32, #mlc.dims<[n + 5]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[n + 5]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i)", dims = #mlc.dims<[n + 5]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n + 5]>>
  return %0 : tensor<?xf32, #mlc.dims<[n + 5]>>
}

//--- not proved: Y[i] = sum{r < i0}(select(r + 60 < i, f32(1), f32(0))), Y[i] = f32(i - 60)
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(r + 60 < i, f32(1), f32(0)))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i - 60)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- not refuted: Y[i] = sum{r < i0}(select(r + 60 < i, f32(1), f32(0))), Y[i] = f32(max(i - 60, 0))
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(r + 60 < i, f32(1), f32(0)))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(max(i - 60, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- not proved: Y[i] = sum{r < i0}(select(2 * r < i, f32(1), f32(0))), Y[i] = f32(floordiv(i, 2))
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(2 * r < i, f32(1), f32(0)))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i, 2))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- not refuted: Y[i] = sum{r < i0}(select(2 * r < i, f32(1), f32(0))), Y[i] = f32(floordiv(i + 1, 2))
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(2 * r < i, f32(1), f32(0)))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i + 1, 2))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- not proved: Y[i] = sum{r < i0}(select(floordiv(r, 3) == i, f32(1), f32(0))), Y[i] = f32(3)
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[floordiv(n + 2, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(floordiv(r, 3) == i, f32(1), f32(0)))", dims = #mlc.dims<[floordiv(n + 2, 3)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[floordiv(n + 2, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(n + 2, 3)]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[floordiv(n + 2, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(3)", dims = #mlc.dims<[floordiv(n + 2, 3)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[floordiv(n + 2, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(n + 2, 3)]>>
}

//--- not refuted: Y[i] = sum{r < i0}(select(floordiv(r, 3) == i, f32(1), f32(0))), Y[i] = f32(3)
func.func @b(%x: !v) -> tensor<?xf32, #mlc.dims<[floordiv(n, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(floordiv(r, 3) == i, f32(1), f32(0)))", dims = #mlc.dims<[floordiv(n, 3)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[floordiv(n, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(n, 3)]>>
}
func.func @a(%x: !v) -> tensor<?xf32, #mlc.dims<[floordiv(n, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(3)", dims = #mlc.dims<[floordiv(n, 3)]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<?xf32, #mlc.dims<[floordiv(n, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(n, 3)]>>
}

//--- not proved: Y[i] = sum{r < i0}(select(mod(r, 3) == i, f32(1), f32(0))), Y[i] = f32(floordiv(i0, 3))
func.func @b(%x: !v) -> tensor<3xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(mod(r, 3) == i, f32(1), f32(0)))", dims = #mlc.dims<[3]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @a(%x: !v) -> tensor<3xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0, 3))", dims = #mlc.dims<[3]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

//--- not proved: Y[i] = sum{r < i0}(select(mod(r, 3) == 0, f32(1), f32(0))), Y[i] = f32(floordiv(i0, 3))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(mod(r, 3) == 0, f32(1), f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0, 3))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(select(r == 99, f32(1), f32(0))), Y[i] = f32(0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(r == 99, f32(1), f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(select(r == 99, f32(1), f32(0))), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 99"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(select(r == 99, f32(1), f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i1}(f32(1)), Y[i] = f32(i0 * i1)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(f32(1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - 5,m - 5]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(i0 * i1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - 5,m - 5]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i1}(f32(1)), Y[i] = f32(i0 * i1)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(f32(1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - m,n - m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(i0 * i1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - m,n - m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0 * i1}(f32(1)), Y[i] = sum{r < i0, s < i1}(f32(1))
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0 * i1}(f32(1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - m,n - m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(f32(1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - m,n - m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0 * i1}(x<0>[0, r]), Y[i] = sum{r < i0, s < i1}(x<0>[0, r * i1 + s])
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0 * i1}(x<0>[0, r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - 9,m - 9]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(x<0>[0, r * i1 + s])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n - 9,m - 9]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0 * i1}(x<0>[0, r]), Y[i] = sum{r < i0, s < i1}(x<0>[0, r * i0 + s])
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0 * i1}(x<0>[0, r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(x<0>[0, r * i0 + s])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(x[r] / f32(i0)), Y[i] = sum{r < i0}(x[r]) / f32(i0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r] / f32(i0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(x[r]) / f32(i0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not refuted: Y[i] = sum{r < i0}(f32(i0) / f32(i0)), Y[i] = f32(i0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(f32(i0) / f32(i0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0}(f32(i0 * i0) / f32(i0 * i0 * i0)), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0}(f32(i0 * i0) / f32(i0 * i0 * i0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i0}(f32(1) / f32(i0 * i0)), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0, s < i0}(f32(1) / f32(i0 * i0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i1}(f32(1) / f32(i0)), Y[i] = f32(i1)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(f32(1) / f32(i0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(i1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0, s < i1}(f32(r) / f32(i1)), Y[i] = sum{r < i0}(f32(r))
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0, s < i1}(f32(r) / f32(i1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = sum{r < i0}(f32(r))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not refuted: Y[i] = sum{r < i0 + 1}(f32(1) / f32(i0 + 1)), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0 + 1}(f32(1) / f32(i0 + 1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sum{r < i0 - 1}(f32(1) / f32(i0 - 1)), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sum{r < i0 - 1}(f32(1) / f32(i0 - 1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(f32(1)), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(f32(1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(f32(i0) / f32(i0)), Y[i] = f32(1)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(f32(i0) / f32(i0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not refuted: Y[i] = max{r < i0}(exp(x[r])) + f32(1), Y[i] = max{r < i0}(exp(x[r]) + f32(1))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(exp(x[r])) + f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(exp(x[r]) + f32(1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(f32(2) * x[r]), Y[i] = f32(2) * max{r < i0 + 1}(x<0>[r])
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(f32(2) * x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(2) * max{r < i0 + 1}(x<0>[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(max(x[r], f32(0))), Y[i] = max(max{r < i0}(x[r]), f32(0))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(max(x[r], f32(0)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max(max{r < i0}(x[r]), f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- refuted: Y[i] = max{r < i0}(exp(x[r])), Y[i] = exp(max{r < i0}(x[r]))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(exp(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = exp(max{r < i0}(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(tanh(x[r])), Y[i] = tanh(max{r < i0}(x[r]))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(tanh(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = tanh(max{r < i0}(x[r]))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(f32(i1) * x<0>[r, 0]), Y[i] = f32(i1) * max{r < i0}(x<0>[r, 0])
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = max{r < i0}(f32(i1) * x<0>[r, 0])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(i1) * max{r < i0}(x<0>[r, 0])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0, s < i1}(x<0>[r, 0]), Y[i] = max{r < i0}(x<0>[r, 0])
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = max{r < i0, s < i1}(x<0>[r, 0])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m - 5]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = max{r < i0}(x<0>[r, 0])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m - 5]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0, s < i1}(x<0>[r, 0]), Y[i] = max{r < i0}(x<0>[r, 0])
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = max{r < i0, s < i1}(x<0>[r, 0])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = max{r < i0}(x<0>[r, 0])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = max{r < i0}(x[r] * f32(i0 - 50)), Y[i] = f32(i0 - 50) * max{r < i0}(x[r])
func.func @b(%x: !v) -> tensor<1xf32> attributes {mlc.assume = ["n >= 1"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = max{r < i0}(x[r] * f32(i0 - 50))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0 - 50) * max{r < i0}(x[r])", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = sqrt(f32((i0 - 50) * (i0 - 50))), Y[i] = f32(i0 - 50)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = sqrt(f32((i0 - 50) * (i0 - 50)))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0 - 50)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = abs(f32(i0 - 50)), Y[i] = f32(i0 - 50)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = abs(f32(i0 - 50))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0 - 50)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = abs(f32(i0 - 50)), Y[i] = f32(max(i0 - 50, 0))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = abs(f32(i0 - 50))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(max(i0 - 50, 0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(floordiv(i0 - 50, 7)), Y[i] = f32(floordiv(max(i0 - 50, 0), 7))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0 - 50, 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(max(i0 - 50, 0), 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- proved: Y[i] = f32(floordiv(i0 - 50, 7) * 7 + mod(i0 - 50, 7)), Y[i] = f32(i0 - 50)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0 - 50, 7) * 7 + mod(i0 - 50, 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0 - 50)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(mod(i0 - 50, 7)), Y[i] = f32(mod(i0 + 7, 7))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(mod(i0 - 50, 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(mod(i0 + 7, 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(floordiv(i0 - 50, 7)), Y[i] = f32(-floordiv(50 - i0, 7))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0 - 50, 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(-floordiv(50 - i0, 7))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(floordiv(floordiv(i0, 3), 5)), Y[i] = f32(floordiv(i0, 8))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(floordiv(i0, 3), 5))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0, 8))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(floordiv(i0 * 3 + 1, 2)), Y[i] = f32(i0 + floordiv(i0, 2))
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(floordiv(i0 * 3 + 1, 2))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0 + floordiv(i0, 2))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(min(i0, 60)), Y[i] = f32(i0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(min(i0, 60))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(i0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not refuted: Y[i] = f32(min(i0, i1) + max(i0, i1)), Y[i] = f32(i0 + i1)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(min(i0, i1) + max(i0, i1))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(i0 + i1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = f32(min(i0, i1) * 2), Y[i] = f32(i0 + i1)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(min(i0, i1) * 2)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(i0 + i1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = select(i0 >= 60, f32(1), f32(0)), Y[i] = f32(0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 60, f32(1), f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = select(i0 * i0 == 3600, f32(1), f32(0)), Y[i] = f32(0)
func.func @b(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 * i0 == 3600, f32(1), f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !v) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!v) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = select(i0 * i1 >= 3600, f32(1), f32(0)), Y[i] = f32(0)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = select(i0 * i1 >= 3600, f32(1), f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(0)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = select(i0 - i1 >= 0, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = select(i0 - i1 >= 0, f32(1), f32(0))", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(1)", dims = #mlc.dims<[1]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- not proved: Y[i] = select(i + i0 - i1 >= 0, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = select(i + i0 - i1 >= 0, f32(1), f32(0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[n]>> {
  %0 = mlc.compute %x {definition = "(x; i0, i1) Y[i] = f32(1)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n,m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- not proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[m - n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[m - n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m - n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m - n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[m - n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[m - n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m - n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m - n]>>
}

//--- proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[m - n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[m - n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m - n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m - n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[m - n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[m - n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m - n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m - n]>>
}

//--- proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[m * n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[m * n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m * n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m * n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[m * n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[m * n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m * n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m * n]>>
}

//--- not proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[m + n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[m + n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m + n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m + n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[m + n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[m + n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m + n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m + n]>>
}

//--- not proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[m * (n - 50) + 100 * n]>> attributes {mlc.assume = ["m * (n - 50) + 100 * n >= 0"]} {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[m * (n - 50) + 100 * n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m * (n - 50) + 100 * n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m * (n - 50) + 100 * n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[m * (n - 50) + 100 * n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[m * (n - 50) + 100 * n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m * (n - 50) + 100 * n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m * (n - 50) + 100 * n]>>
}

//--- not proved: Y[i] = select(i0 >= 2, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[m * n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 2, f32(1), f32(0))", dims = #mlc.dims<[m * n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m * n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m * n]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[m * n]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[m * n]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[m * n]>>
  return %0 : tensor<?xf32, #mlc.dims<[m * n]>>
}

//--- not proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[max(m, n)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[max(m, n)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[max(m, n)]>>
  return %0 : tensor<?xf32, #mlc.dims<[max(m, n)]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[max(m, n)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[max(m, n)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[max(m, n)]>>
  return %0 : tensor<?xf32, #mlc.dims<[max(m, n)]>>
}

//--- not refuted: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[min(m, n)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[min(m, n)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[min(m, n)]>>
  return %0 : tensor<?xf32, #mlc.dims<[min(m, n)]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[min(m, n)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[min(m, n)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[min(m, n)]>>
  return %0 : tensor<?xf32, #mlc.dims<[min(m, n)]>>
}

//--- not refuted: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[floordiv(m, 3)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[floordiv(m, 3)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
}

//--- not proved: Y[i] = select(i0 >= 4, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 4, f32(1), f32(0))", dims = #mlc.dims<[floordiv(m, 3)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[floordiv(m, 3)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(m, 3)]>>
}

//--- not proved: Y[i] = select(i0 >= 1, f32(1), f32(0)), Y[i] = f32(1)
func.func @b(%x: !x) -> tensor<?xf32, #mlc.dims<[floordiv(m + 3, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = select(i0 >= 1, f32(1), f32(0))", dims = #mlc.dims<[floordiv(m + 3, 3)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[floordiv(m + 3, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(m + 3, 3)]>>
}
func.func @a(%x: !x) -> tensor<?xf32, #mlc.dims<[floordiv(m + 3, 3)]>> {
  %0 = mlc.compute %x {definition = "(x; i0) Y[i] = f32(1)", dims = #mlc.dims<[floordiv(m + 3, 3)]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!x) -> tensor<?xf32, #mlc.dims<[floordiv(m + 3, 3)]>>
  return %0 : tensor<?xf32, #mlc.dims<[floordiv(m + 3, 3)]>>
}
