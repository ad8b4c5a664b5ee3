// Maxima, minima and magnitudes of real numbers.

!x = tensor<?xf32, #mlc.dims<[n]>>

//--- absorption: max(x, min(x, y)) = x
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = max(x[k], min(x[k], y[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- dual_absorption: min(x, max(x, y)) = x
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = min(x[k], max(x[k], y[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- minimum_of_maximum: min(x, max(y, z)) = max(min(x, y), min(x, z))
func.func @before(%x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[k] = min(x[k], max(y[k], z[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[k] = max(min(x[k], y[k]), min(x[k], z[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %r : !x
}

//--- maximum_of_minimum: max(x, min(y, z)) = min(max(x, y), max(x, z))
func.func @before(%x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[k] = max(x[k], min(y[k], z[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[k] = min(max(x[k], y[k]), max(x[k], z[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %r : !x
}

//--- magnitude_as_maximum: |x| = max(x, -x)
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = abs(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(x[k], -x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- maximum_plus_minimum: max(x, y) + min(x, y) = x + y
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = max(x[k], y[k]) + min(x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k] + y[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- maximum_less_minimum: max(x, y) - min(x, y) = |x - y|
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = max(x[k], y[k]) - min(x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = abs(x[k] - y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- rectifiers_differ: relu(x) - relu(-x) = x
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(x[k], 0) - max(-x[k], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- rectifiers_add: relu(x) + relu(-x) = |x|
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(x[k], 0) + max(-x[k], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = abs(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- clamp_in_a_wider_one: clamping to [0, 6], then to [-1, 7], is clamping to [0, 6]
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = min(max(min(max(x[k], 0), 6), -1), 7)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = min(max(x[k], 0), 6)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- clamp_in_either_order: min(max(x, 0), 6) = max(min(x, 6), 0)
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = min(max(x[k], 0), 6)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = max(min(x[k], 6), 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- twice_the_maximum: 2 max(x, y) = x + y + |x - y|
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = 2 * max(x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k] + y[k] + abs(x[k] - y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
