// Selections, comparisons and truth values: none of these holds.

!x = tensor<?xf32, #mlc.dims<[n]>>
!c = tensor<?xi1, #mlc.dims<[n]>>

//--- not_of_and_by_and: not (c and d) is true where one is
func.func @before(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = not(and(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = and(not(c[k]), not(d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}

//--- select_of_not_unturned: (not c) chooses the other one
func.func @before(%c: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %x, %y {definition = "(c, x, y) Y[k] = select(not(c[k]), x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %x, %y {definition = "(c, x, y) Y[k] = select(c[k], x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x, !x) -> !x
  return %r : !x
}

//--- less_is_not_more: neither holds of equals
func.func @before(%x: !x, %y: !x) -> !c {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k] < y[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!x, !x) -> !c
  return %r : !c
}
func.func @after(%x: !x, %y: !x) -> !c {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = not(y[k] < x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!x, !x) -> !c
  return %r : !c
}

//--- select_of_or: both conditions choose x
func.func @before(%c: !c, %d: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %d, %x, %y {definition = "(c, d, x, y) Y[k] = select(c[k], select(d[k], x[k], y[k]), y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c, !x, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %d: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %d, %x, %y {definition = "(c, d, x, y) Y[k] = select(or(c[k], d[k]), x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c, !x, !x) -> !x
  return %r : !x
}

//--- select_the_greater: x < y ? x : y is the lesser
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = select(x[k] < y[k], x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = max(x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- xor_by_or: both are true
func.func @before(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = xor(c[k], d[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = or(c[k], d[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
