!i0 = tensor<?xf32, #mlc.dims<[n]>>
!i1 = tensor<?xf32, #mlc.dims<[n]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0, %y: !i1) -> !o {
  %r = mlc.compute %x, %y {definition = "(x, y; ; ) Y[i] = pow(x[i], y[i]) + x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0, !i1) -> !o
  return %r : !o
}
func.func @a(%x: !i0, %y: !i1) -> !o {
  %r = mlc.compute %x, %y {definition = "(x, y; ; ) Y[i] = pow(x[i], y[i]) + sqrt(x[i]) * sqrt(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0, !i1) -> !o
  return %r : !o
}
