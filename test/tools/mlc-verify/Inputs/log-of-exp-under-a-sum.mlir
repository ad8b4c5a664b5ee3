!x = tensor<3xf32, #mlc.dims<[3]>>
!y = tensor<f32>
func.func @b(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x) Y[] = sum{i < 3}(f32(i - 1) * log(exp(x[i])))", dims = #mlc.dims<[]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
func.func @a(%x: !x) -> !y {
  %0 = mlc.compute %x {definition = "(x) Y[] = 0", dims = #mlc.dims<[]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !y
  return %0 : !y
}
