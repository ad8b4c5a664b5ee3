// What operators that work element by element refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'mlc.add' op requires operands of one rank, got 2 and 1 - insert mlc.broadcast}}
  %r = mlc.add %x, %y {} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) {
  // expected-error @+1 {{'mlc.add' op requires operands of one element type, got 'f32' and 'f64' - insert mlc.cast}}
  %r = mlc.add %x, %y {} : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi32>) {
  // expected-error @+1 {{'mlc.exp' op requires floats, got 'i32'}}
  %r = mlc.exp %x {} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.and' op requires bools, got 'f32'}}
  %r = mlc.and %x, %y {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi1>) {
  // expected-error @+1 {{'mlc.neg' op requires numbers, got 'i1'}}
  %r = mlc.neg %x {} : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.add' op dim 1 of all operands must be equal (3 == 4 does not hold)}}
  %r = mlc.add %x, %y {} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.compare' op attribute 'predicate' failed to satisfy constraint: eq, ne, lt, le, gt or ge}}
  %r = mlc.compare %x, %y {predicate = "above"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%c: tensor<2xf32>, %x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.select' op requires a condition of i1, got 'f32'}}
  %r = mlc.select %c, %x, %y {} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{'mlc.select' op requires both choices of one element type, got 'f32' and 'f64'}}
  %r = mlc.select %c, %x, %y {} : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.cast' op requires a float or integer type, got 'index'}}
  %r = mlc.cast %x {to = index} : (tensor<2xf32>) -> tensor<2xindex>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.add' op result #0 must be 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = mlc.add %x, %y {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.add' op operand #0 must be a ranked tensor whose dims are static or named, got 'tensor<?xf32>'}}
  %r = mlc.add %x, %y {} : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<*xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.add' op operand #0 must be ranked tensor, but got 'tensor<*xf32>'}}
  %r = mlc.add %x, %y {} : (tensor<*xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
