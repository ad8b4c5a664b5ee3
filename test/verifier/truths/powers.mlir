// Exponentials, logarithms, roots and powers, where they are defined.

!x = tensor<?xf32, #mlc.dims<[n]>>

//--- exponential_of_sum: exp(x + y) = exp(x) exp(y)
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = exp(x[k] + y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = exp(x[k]) * exp(y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- exponential_of_negative: exp(-x) = 1 / exp(x)
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = exp(-x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = 1 / exp(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- logarithm_of_product: log(x y) = log(x) + log(y) for x, y > 0
func.func @before(%x: !x {mlc.assume = ["positive"]}, %y: !x {mlc.assume = ["positive"]}) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = log(x[k] * y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = log(x[k]) + log(y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- logarithm_of_reciprocal: log(1 / x) = -log(x) for x > 0
func.func @before(%x: !x {mlc.assume = ["positive"]}) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = log(1 / x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = -log(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- root_of_square: sqrt(x x) = |x|
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = sqrt(x[k] * x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = abs(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- square_of_root: sqrt(x) sqrt(x) = x for x >= 0
func.func @before(%x: !x {mlc.assume = ["non-negative"]}) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = sqrt(x[k]) * sqrt(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- root_of_product: sqrt(x y) = sqrt(x) sqrt(y) for x, y >= 0
func.func @before(%x: !x {mlc.assume = ["non-negative"]}, %y: !x {mlc.assume = ["non-negative"]}) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = sqrt(x[k] * y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = sqrt(x[k]) * sqrt(y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- second_power: pow(x, 2) = x x
func.func @before(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = pow(x[k], 2)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = x[k] * x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- power_of_a_half: pow(x, 1/2) = sqrt(x) for x >= 0
func.func @before(%x: !x {mlc.assume = ["non-negative"]}) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = pow(x[k], 0.5)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = sqrt(x[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- square_of_reciprocal_root: (1 / sqrt(x)) (1 / sqrt(x)) = 1 / x for x > 0
func.func @before(%x: !x {mlc.assume = ["positive"]}) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = 1 / sqrt(x[k]) * (1 / sqrt(x[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.compute %x {definition = "(x) Y[k] = 1 / x[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x
  return %r : !x
}

//--- logarithm_of_exponentials: log(exp(x) exp(y)) = x + y
func.func @before(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = log(exp(x[k]) * exp(y[k]))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = x[k] + y[k]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}

//--- logarithm_of_quotient: log(x / y) = log(x) - log(y) for x, y > 0
func.func @before(%x: !x {mlc.assume = ["positive"]}, %y: !x {mlc.assume = ["positive"]}) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = log(x[k] / y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  %r = mlc.compute %x, %y {definition = "(x, y) Y[k] = log(x[k]) - log(y[k])", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %r : !x
}
