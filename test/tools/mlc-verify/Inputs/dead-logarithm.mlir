!i0 = tensor<?xf32, #mlc.dims<[n]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0) -> !o {
  %t = mlc.compute %x {definition = "(x) S[i] = log(x[i]) + f32(i32(i) / 2)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0) -> !o
  %r = mlc.compute %x, %t {definition = "(x, t) Y[i] = select(x[i] > 0, t[i], x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0, !o) -> !o
  return %r : !o
}
func.func @a(%x: !i0) -> !o {
  %t = mlc.compute %x {definition = "(x) S[i] = log(x[i]) + f32(i32(i) / 2)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0) -> !o
  %r = mlc.compute %x, %t {definition = "(x, t) Y[i] = select(x[i] > 0, t[i], sqrt(x[i]) * sqrt(x[i]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0, !o) -> !o
  return %r : !o
}
