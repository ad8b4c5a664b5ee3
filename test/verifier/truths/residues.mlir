// Integers of w bits are numbers modulo 2^w; comparisons read them with a sign.

!i = tensor<?xi32, #mlc.dims<[n]>>
!b = tensor<?xi8, #mlc.dims<[n]>>

//--- square_of_sum: (a + b) (a + b) = a a + 2 a b + b b
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = (a[k] + b[k]) * (a[k] + b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = a[k] * a[k] + 2 * a[k] * b[k] + b[k] * b[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}

//--- distributivity_of_bytes: a (b + c) = a b + a c
func.func @before(%a: !b, %b: !b, %c: !b) -> !b {
  %r = mlc.compute %a, %b, %c {definition = "(a, b, c) Y[k] = a[k] * (b[k] + c[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b, !b, !b) -> !b
  return %r : !b
}
func.func @after(%a: !b, %b: !b, %c: !b) -> !b {
  %r = mlc.compute %a, %b, %c {definition = "(a, b, c) Y[k] = a[k] * b[k] + a[k] * c[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b, !b, !b) -> !b
  return %r : !b
}

//--- less_itself: a - a = 0
func.func @before(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] - a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}
func.func @after(%a: !i) -> !i {
  %r = mlc.compute %a {definition = "(a) Y[k] = 0", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i) -> !i
  return %r : !i
}

//--- negative_of_difference: -(a - b) = b - a
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = -(a[k] - b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = b[k] - a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}

//--- difference_of_squares: (a + b) (a - b) = a a - b b
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = (a[k] + b[k]) * (a[k] - b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = a[k] * a[k] - b[k] * b[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}

//--- byte_of_product: the low byte of a product is the product of the low bytes
func.func @before(%a: !i, %b: !i) -> !b {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = i8(a[k] * b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!i, !i) -> !b
  return %r : !b
}
func.func @after(%a: !i, %b: !i) -> !b {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = i8(a[k]) * i8(b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!i, !i) -> !b
  return %r : !b
}

//--- byte_of_sum: the low byte of a sum is the sum of the low bytes
func.func @before(%a: !i, %b: !i) -> !b {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = i8(a[k] + b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!i, !i) -> !b
  return %r : !b
}
func.func @after(%a: !i, %b: !i) -> !b {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = i8(a[k]) + i8(b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!i, !i) -> !b
  return %r : !b
}

//--- sixteen_times_sixteen: 16 (16 a) = 0 modulo 256
func.func @before(%a: !b) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = 16 * (16 * a[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b) -> !b
  return %r : !b
}
func.func @after(%a: !b) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = a[k] - a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b) -> !b
  return %r : !b
}

//--- half_a_turn: 64 a + 64 a = -64 a - 64 a modulo 256
func.func @before(%a: !b) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = 64 * a[k] + 64 * a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b) -> !b
  return %r : !b
}
func.func @after(%a: !b) -> !b {
  %r = mlc.compute %a {definition = "(a) Y[k] = -(64 * a[k]) - 64 * a[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i8} : (!b) -> !b
  return %r : !b
}

//--- difference_of_cubes: a^3 - b^3 = (a - b) (a a + a b + b b)
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = a[k] * a[k] * a[k] - b[k] * b[k] * b[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = (a[k] - b[k]) * (a[k] * a[k] + a[k] * b[k] + b[k] * b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}

//--- maximum_plus_minimum_of_integers: max(a, b) + min(a, b) = a + b, whatever wraps
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = max(a[k], b[k]) + min(a[k], b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = a[k] + b[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}

//--- greater_less_lesser: a < b ? b - a : a - b = max(a, b) - min(a, b)
func.func @before(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = select(a[k] < b[k], b[k] - a[k], a[k] - b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
func.func @after(%a: !i, %b: !i) -> !i {
  %r = mlc.compute %a, %b {definition = "(a, b) Y[k] = max(a[k], b[k]) - min(a[k], b[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (!i, !i) -> !i
  return %r : !i
}
