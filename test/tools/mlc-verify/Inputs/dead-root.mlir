!i0 = tensor<?xf32, #mlc.dims<[n]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0) -> !o {
  %t = mlc.compute %x {definition = "(x) S[i] = sqrt(x[i]) + f32(i32(i) / 2)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0) -> !o
  return %x : !o
}
func.func @a(%x: !i0) -> !o {
  %r = mlc.compute %x {definition = "(x; ; ) Y[i] = sqrt(x[i]) * sqrt(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0) -> !o
  return %r : !o
}
