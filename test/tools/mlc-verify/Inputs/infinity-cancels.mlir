!i0 = tensor<?xf32, #mlc.dims<[n]>>
!i1 = tensor<?xf32, #mlc.dims<[k]>>
!o = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !i0, %m: !i1) -> !o {
  %r = mlc.compute %x, %m {definition = "(x, m; k; ) Y[i] = x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[k]>, reals = [], type = f32} : (!i0, !i1) -> !o
  return %r : !o
}
func.func @a(%x: !i0, %m: !i1) -> !o {
  %r = mlc.compute %x, %m {definition = "(x, m; k; ) Y[i] = x[i] + max{j < k}(m<0>[j]) - max{j < k}(m<0>[j])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[k]>, reals = [], type = f32} : (!i0, !i1) -> !o
  return %r : !o
}
