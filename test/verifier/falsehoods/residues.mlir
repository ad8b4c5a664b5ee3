// Integers of w bits wrap: none of these holds.

!c = tensor<?xi1, #mlc.dims<[n]>>
!i = tensor<?xi32, #mlc.dims<[n]>>
!b = tensor<?xi8, #mlc.dims<[n]>>

//--- square_is_not_negative: 65536 * 65535 has its sign bit
func.func @before(%a: !i) -> !c {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] * a[k] >= 0", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!i) -> !c
  return %r : !c
}
func.func @after(%a: !i) -> !c {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] == a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!i) -> !c
  return %r : !c
}

//--- double_of_byte_is_zero: 2 * -128 is 0
func.func @before(%a: !b) -> !c {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] + a[k] == 0", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!b) -> !c
  return %r : !c
}
func.func @after(%a: !b) -> !c {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] == 0", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!b) -> !c
  return %r : !c
}

//--- byte_of_word: a word has more bits than a byte
func.func @before(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = i32(i8(a[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}
func.func @after(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}

//--- square_of_sum_without_middle: 2 a b is left out
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = (a[k] + b[k]) * (a[k] + b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = a[k] * a[k] + b[k] * b[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}

//--- less_than_the_next: 2147483647 + 1 is the least
func.func @before(%a: !i) -> !c {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] < a[k] + 1", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!i) -> !c
  return %r : !c
}
func.func @after(%a: !i) -> !c {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] == a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!i) -> !c
  return %r : !c
}

//--- range_is_not_negative: max - min wraps
func.func @before(%a: !i, %b: !i) -> !c {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = max(a[k], b[k]) - min(a[k], b[k]) >= 0", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!i, !i) -> !c
  return %r : !c
}
func.func @after(%a: !i, %b: !i) -> !c {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = a[k] == a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i1} : (!i, !i) -> !c
  return %r : !c
}
