// Selections, comparisons and truth values.

!x = tensor<?xf32, #mlc.dims<[n]>>
!c = tensor<?xi1, #mlc.dims<[n]>>

//--- not_of_and: De Morgan: not (c and d) = (not c) or (not d)
func.func @before(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = not(and(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = or(not(c[k]), not(d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}

//--- not_of_or: De Morgan: not (c or d) = (not c) and (not d)
func.func @before(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = not(or(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = and(not(c[k]), not(d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}

//--- select_of_equals: c ? x : x = x
func.func @before(%c: !c, %x: !x) -> !x {
  %r = mlc.compute %c, %x {definition = "(c, x) Y[k] = select(c[k], x[k], x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %x: !x) -> !x {
  %r = mlc.compute %c, %x {definition = "(c, x) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x) -> !x
  return %r : !x
}

//--- select_of_not: (not c) ? x : y = c ? y : x
func.func @before(%c: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %x, %y {definition = "(c, x, y) Y[k] = select(not(c[k]), x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %x, %y {definition = "(c, x, y) Y[k] = select(c[k], y[k], x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x, !x) -> !x
  return %r : !x
}

//--- select_again: c ? (c ? x : y) : z = c ? x : z
func.func @before(%c: !c, %x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %c, %x, %y, %z {definition = "(c, x, y, z) Y[k] = select(c[k], select(c[k], x[k], y[k]), z[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x, !x, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %x: !x, %y: !x, %z: !x) -> !x {
  %r = mlc.compute %c, %x, %y, %z {definition = "(c, x, y, z) Y[k] = select(c[k], x[k], z[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x, !x, !x) -> !x
  return %r : !x
}

//--- select_of_and: c ? (d ? x : y) : y = (c and d) ? x : y
func.func @before(%c: !c, %d: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %d, %x, %y {definition = "(c, d, x, y) Y[k] = select(c[k], select(d[k], x[k], y[k]), y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c, !x, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %d: !c, %x: !x, %y: !x) -> !x {
  %r = mlc.compute %c, %d, %x, %y {definition = "(c, d, x, y) Y[k] = select(and(c[k], d[k]), x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c, !x, !x) -> !x
  return %r : !x
}

//--- select_the_lesser: x < y ? x : y = min(x, y)
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = select(x[k] < y[k], x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = min(x[k], y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- less_is_not_at_least: x < y = not (y <= x)
func.func @before(%x: !x, %y: !x) -> !c {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k] < y[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!x, !x) -> !c
  return %r : !c
}
func.func @after(%x: !x, %y: !x) -> !c {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = not(y[k] <= x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!x, !x) -> !c
  return %r : !c
}

//--- xor_by_and_or: c xor d = (c and not d) or (not c and d)
func.func @before(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = xor(c[k], d[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = or(and(c[k], not(d[k])), and(not(c[k]), d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}

//--- and_over_or: c and (d or e) = (c and d) or (c and e)
func.func @before(%c: !c, %d: !c, %e: !c) -> !c {
  %r = mlc.compute %c, %d, %e {definition = "(c, d, e) Y[k] = and(c[k], or(d[k], e[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c, %e: !c) -> !c {
  %r = mlc.compute %c, %d, %e {definition = "(c, d, e) Y[k] = or(and(c[k], d[k]), and(c[k], e[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c, !c) -> !c
  return %r : !c
}

//--- or_absorbs: c or (c and d) = c
func.func @before(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = or(c[k], and(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}
func.func @after(%c: !c, %d: !c) -> !c {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = c[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!c, !c) -> !c
  return %r : !c
}

//--- select_as_product: c ? x : 0 = [c] x
func.func @before(%c: !c, %x: !x) -> !x {
  %r = mlc.compute %c, %x {definition = "(c, x) Y[k] = select(c[k], x[k], 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x) -> !x
  return %r : !x
}
func.func @after(%c: !c, %x: !x) -> !x {
  %r = mlc.compute %c, %x {definition = "(c, x) Y[k] = f32(c[k]) * x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !x) -> !x
  return %r : !x
}
