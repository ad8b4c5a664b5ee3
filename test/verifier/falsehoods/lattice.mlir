// Maxima, minima and magnitudes of real numbers: none of these holds.

!x = tensor<?xf32, #mlc.dims<[n]>>

//--- absorption_of_the_other: max(x, min(x, y)) is x, not y
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = max(x[k], min(x[k], y[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = y[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- maximum_less_minimum_without_sign: max(x, y) - min(x, y) is |x - y|
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = max(x[k], y[k]) - min(x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k] - y[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- magnitude_as_rectifier: |x| is not 0 below 0
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = abs(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(x[k], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- empty_clamp_in_either_order: the order of bounds that cross decides
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = min(max(x[k], 6), 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(min(x[k], 0), 6)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- rectifiers_add_to_x: relu(x) + relu(-x) is |x|
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(x[k], 0) + max(-x[k], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- maximum_taken_out: min(x, max(y, z)) is at most x
func.func @before(%x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[k] = min(x[k], max(y[k], z[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[k] = max(min(x[k], y[k]), z[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %r : !x
}
