!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !x) -> !x {
  %0 = mlc.compute %x {definition = "(x) Y[i] = select(x[i] > 0, 1 / f32(x[i] > 0), 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %0 : !x
}
func.func @a(%x: !x) -> !x {
  %0 = mlc.compute %x {definition = "(x) Y[i] = 1", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %0 : !x
}
