!t = tensor<?xf32, #mlc.dims<[n]>>
func.func @b(%x: !t) -> !t attributes {mlc.assume = ["n == 1 or n == 2"]} {
  %r = mlc.compute %x {definition = "(x; n; ) Y[i] = x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!t) -> !t
  return %r : !t
}
func.func @a(%x: !t) -> !t {
  %r = mlc.compute %x {definition = "(x; n; ) Y[i] = x[n - 1 - i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!t) -> !t
  return %r : !t
}
