// What the text of a definition is refused for.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 25: integers are divided by floordiv, or after a cast}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[i / 2, 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 36: truth values are combined by and, or, xor}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = f32((i < 1) + (i < 2))", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 16: expected f32, got index; write a cast, as in f32(..)}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = i", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 23: expected an integer}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[1.5, i]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 24: expected a name}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x[i, 0] +", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 23: expected ')'}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = (x[i, 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 15: '1..2' is no number}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = 1..2", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 19: a real parameter needs a float element type}}
  %r = mlc.compute %x {definition = "(x; n; e) Y[i] = e", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [#mlc.real<2.0>], type = i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 19: 'x' has 2 dims, not 1}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x[i]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 22: index 1 of 'x' may be out of range (the dim is 3); say what stands for it then, as in x<0>[..]}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x[i, n]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 19: 'mean' is no reduction}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = mean{r < 3}(x[i, r])", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 21: expected `i < extent`}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sum{r}(x[i, r])", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 27: integers are reduced after a cast}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < 3}(r)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 37: any and all take truth values}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = f32(any{r < 3}(x[i, r]))", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 35: truth values are reduced by any and all}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = f32(sum{r < 3}(r < 2))", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 24: 'sin' takes 1 operands, not 2}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sin(1, 2)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 22: there is no function 'frob'}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = frob(1)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 40: index 0 of 'x' may be out of range (the dim is 2); say what stands for it then, as in x<0>[..]}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x[select(i < 1, i, 0), 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 29: 'sin' does not take this type}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = f32(sin(i < 1))", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 36: 'max' does not take this type}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = f32(max(i < 1, i < 2))", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 29: 'pow' takes floats}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[pow(i, 2), 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 29: 'mod' takes integers, the divisor without loops}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[mod(n, i), 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 29: a divisor must be positive}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[mod(i, 0), 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 35: a divisor must be positive}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[floordiv(i, -2), 0]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 23: expected ';' or the end}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = x[i, 0] Z", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 9: 'n' has a meaning already}}
  %r = mlc.compute %x {definition = "(x; n) n[i] = 1", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 6: the text names 2 tensors, but there are 1}}
  %r = mlc.compute %x {definition = "(x, y; n) Y[i] = 1", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 3: the text names 0 integers, but there are 1}}
  %r = mlc.compute %x {definition = "(x) Y[i] = 1", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 24: expected an integer without loops}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < i}(1)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 25: a loop cannot run -1 times}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < -1}(1)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 27: loop 'r' stands there twice}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < 2, r < 3}(1)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 28: expected a bound for every loop, or for none}}
  %r = mlc.compute %x {definition = "(x; n) Y[i] = sum{r < 2, s}(1)", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 17: expected bounds here, or 1 loops without bounds in the last stage}}
  %r = mlc.compute %x {definition = "(x; n) Y[i, j] = 1", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 18: the loops of the last stage have no bounds: they run over the operator's dims}}
  %r = mlc.compute %x {definition = "(x; n) Y[i < 2] = 1", dims = #mlc.dims<[2]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 32: 'threefry' takes elements of 64 bits}}
  %r = mlc.compute %x {definition = "(x) Y[i] = threefry(x[i], x[i])", dims = #mlc.dims<[2]>, integers = #mlc.dims<[]>, reals = [], type = i32} : (tensor<2xi32>) -> tensor<2xi32>
  return
}
