// There and back between types.

!x = tensor<?xf32, #mlc.dims<[n]>>
!c = tensor<?xi1, #mlc.dims<[n]>>
!i = tensor<?xi32, #mlc.dims<[n]>>
!b = tensor<?xi8, #mlc.dims<[n]>>
!d = tensor<?xf64, #mlc.dims<[n]>>

//--- byte_there_and_back: an i8 as i32 and back
func.func @before(%a: !b) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = i8(i32(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b) -> !b
  return %r : !b
}
func.func @after(%a: !b) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b) -> !b
  return %r : !b
}

//--- word_there_and_back: an i32 as i64 and back
func.func @before(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = i32(i64(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}
func.func @after(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}

//--- truth_there_and_back: a truth value as f32 and back
func.func @before(%x: !c) -> !c {
  %0 = mlc.cast %x {to = f32} : (!c) -> !x
  %1 = mlc.cast %0 {to = i1} : (!x) -> !c
  return %1 : !c
}
func.func @after(%x: !c) -> !c {
  return %x : !c
}

//--- word_as_double_and_back: an i32 as f64, which is exact, and back
func.func @before(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = i32(f64(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}
func.func @after(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}

//--- product_of_truths: [c] [d] = [c and d]
func.func @before(%c: !c, %d: !c) -> !x {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = f32(c[k]) * f32(d[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c) -> !x
  return %r : !x
}
func.func @after(%c: !c, %d: !c) -> !x {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = f32(and(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c) -> !x
  return %r : !x
}

//--- sum_of_truths: [c] + [d] - [c] [d] = [c or d]
func.func @before(%c: !c, %d: !c) -> !x {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = f32(c[k]) + f32(d[k]) - f32(c[k]) * f32(d[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c) -> !x
  return %r : !x
}
func.func @after(%c: !c, %d: !c) -> !x {
  %r = mlc.compute %c, %d {definition = "(c, d) Y[k] = f32(or(c[k], d[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c, !c) -> !x
  return %r : !x
}

//--- number_of_not: [not c] = 1 - [c]
func.func @before(%c: !c) -> !x {
  %r = mlc.compute %c {definition = "(c) Y[k] = f32(not(c[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c) -> !x
  return %r : !x
}
func.func @after(%c: !c) -> !x {
  %r = mlc.compute %c {definition = "(c) Y[k] = 1 - f32(c[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c) -> !x
  return %r : !x
}

//--- truth_as_integer_and_back: a truth value as i32 and back
func.func @before(%x: !c) -> !c {
  %0 = mlc.cast %x {to = i32} : (!c) -> !i
  %1 = mlc.cast %0 {to = i1} : (!i) -> !c
  return %1 : !c
}
func.func @after(%x: !c) -> !c {
  return %x : !c
}

//--- extended_then_truncated: an i32 made i64, then i8, is made i8
func.func @before(%a: !i) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = i8(i64(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!i) -> !b
  return %r : !b
}
func.func @after(%a: !i) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = i8(a[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!i) -> !b
  return %r : !b
}

//--- extended_then_double: an i32 made i64, then f64, is made f64
func.func @before(%a: !i) -> !d {
  %r = mlc.compute %a {definition = "(a) Y[k] = f64(i64(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f64} : (!i) -> !d
  return %r : !d
}
func.func @after(%a: !i) -> !d {
  %r = mlc.compute %a {definition = "(a) Y[k] = f64(a[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f64} : (!i) -> !d
  return %r : !d
}

//--- one_of_both: [c] + [not c] = 1
func.func @before(%c: !c) -> !i {
  %r = mlc.compute %c {definition = "(c) Y[k] = i32(c[k]) + i32(not(c[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!c) -> !i
  return %r : !i
}
func.func @after(%c: !c) -> !i {
  %r = mlc.compute %c {definition = "(c) Y[k] = 1", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!c) -> !i
  return %r : !i
}

//--- truth_by_way_of_a_byte: a truth value made i8, then f32, is made f32
func.func @before(%c: !c) -> !x {
  %r = mlc.compute %c {definition = "(c) Y[k] = f32(i8(c[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c) -> !x
  return %r : !x
}
func.func @after(%c: !c) -> !x {
  %r = mlc.compute %c {definition = "(c) Y[k] = f32(c[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!c) -> !x
  return %r : !x
}
