!i0 = tensor<?xf32, #mlc.dims<[n]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0) -> !o {
  %r = mlc.compute %x {definition = "(x; ; ) Y[i] = pow(x[i], 0.5) + x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0) -> !o
  return %r : !o
}
func.func @a(%x: !i0) -> !o {
  %r = mlc.compute %x {definition = "(x; ; ) Y[i] = pow(x[i], 0.5) + x[i] * x[i] / x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0) -> !o
  return %r : !o
}
