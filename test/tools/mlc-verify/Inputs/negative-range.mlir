!i0 = tensor<?xf32, #mlc.dims<[n]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0) -> !o {
  %r = mlc.compute %x {definition = "(x; n; ) Y[i] = x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!i0) -> !o
  return %r : !o
}
func.func @a(%x: !i0) -> !o {
  %r = mlc.compute %x {definition = "(x; n; ) Y[i] = x[i] + 0 * sum{j < n - 5}(1)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!i0) -> !o
  return %r : !o
}
