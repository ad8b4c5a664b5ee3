!x = tensor<?xi64, #mlc.dims<[n]>>
!y = tensor<?xi32, #mlc.dims<[n]>>
func.func @b(%x: !x {mlc.assume = ["non-zero"]}) -> !y {
  %0 = mlc.compute %x {definition = "(x) Y[i] = i32(x[i]) - i32(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x) Y[i] = 1 / i32(x[i]) - 1 / i32(x[i])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!x) -> !y
  return %0 : !y
}
