!i0 = tensor<?xf32, #mlc.dims<[n]>>
!i1 = tensor<?xi1, #mlc.dims<[n]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0, %c: !i1) -> !o {
  %r = mlc.compute %x, %c {definition = "(x, c; ; ) Y[i] = select(c[i], x[i] / f32(c[i]), 0) ", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0, !i1) -> !o
  return %r : !o
}
func.func @a(%x: !i0, %c: !i1) -> !o {
  %r = mlc.compute %x, %c {definition = "(x, c; ; ) Y[i] = x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i0, !i1) -> !o
  return %r : !o
}
