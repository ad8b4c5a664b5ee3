// There and back, changed: none of these holds.

!x = tensor<?xf32, #mlc.dims<[n]>>
!c = tensor<?xi1, #mlc.dims<[n]>>
!i = tensor<?xi32, #mlc.dims<[n]>>

//--- fraction_there_and_back: an integer has no fraction
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = f32(i32(x[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- sum_of_truths_as_or: 1 + 1 is 2
func.func @before(%c: !c, %d: !c) -> !x {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = f32(c[k]) + f32(d[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c) -> !x
  return %r : !x
}
func.func @after(%c: !c, %d: !c) -> !x {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = f32(or(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c) -> !x
  return %r : !x
}

//--- integer_as_truth_and_back: 2 is true and comes back as 1
func.func @before(%x: !i) -> !i {
  %0 = mlc.cast %x {to = i1} : (!i) -> !c
  %1 = mlc.cast %0 {to = i32} : (!c) -> !i
  return %1 : !i
}
func.func @after(%x: !i) -> !i {
  return %x : !i
}

//--- number_of_not_as_negative: [not c] is 1 - [c]
func.func @before(%c: !c) -> !x {
  %r = mlc.compute %c {definition = "(c) Y[k] = f32(not(c[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c) -> !x
  return %r : !x
}
func.func @after(%c: !c) -> !x {
  %r = mlc.compute %c {definition = "(c) Y[k] = -f32(c[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c) -> !x
  return %r : !x
}

//--- number_of_a_byte: a word's number is not its low byte's
func.func @before(%a: !i) -> !x {
  %r = mlc.compute %a {definition = "(a) Y[k] = f32(i8(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i) -> !x
  return %r : !x
}
func.func @after(%a: !i) -> !x {
  %r = mlc.compute %a {definition = "(a) Y[k] = f32(a[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!i) -> !x
  return %r : !x
}

//--- truncated_as_floor: casts truncate towards 0
func.func @before(%x: !x) -> !i {
  %r = mlc.compute %x {definition = "(x) Y[k] = i32(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!x) -> !i
  return %r : !i
}
func.func @after(%x: !x) -> !i {
  %r = mlc.compute %x {definition = "(x) Y[k] = i32(floor(x[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!x) -> !i
  return %r : !i
}
