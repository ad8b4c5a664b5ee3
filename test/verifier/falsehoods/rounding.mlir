// Floors, ceilings and nearest integers: none of these holds.

!x = tensor<?xf32, #mlc.dims<[n]>>

//--- floor_of_sum: two halves add up
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = floor(x[k] + y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = floor(x[k]) + floor(y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- floor_is_odd: floor(-1/2) is -1
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = floor(-x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = -floor(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- ceiling_is_floor_and_one: not of whole numbers
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = ceil(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = floor(x[k]) + 1", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- nearest_of_shifted_by_one: round(1/2) = 0, round(3/2) = 2
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = roundeven(x[k] + 1)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = roundeven(x[k]) + 1", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- floor_of_double: floor(2 * 1/2) = 1
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = floor(2 * x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = 2 * floor(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- nearest_as_floor: round(1/2) is 0, floor(1/2 + 1/2) is 1
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = roundeven(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = floor(x[k] + 0.5)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
