// What reductions and normalizations refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.reduce' op attribute 'kind' failed to satisfy constraint: sum, prod, max, min or mean}}
  %r = mlc.reduce %x {kind = "median", axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.reduce' op requires an axis in [0, 2), got 2}}
  %r = mlc.reduce %x {kind = "sum", axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.reduce' op names axis 0 twice}}
  %r = mlc.reduce %x {kind = "sum", axes = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{'mlc.reduce' op requires numbers, got 'i1'}}
  %r = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (tensor<2x3xi1>) -> tensor<1x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{'mlc.softmax' op requires floats, got 'i32'}}
  %r = mlc.softmax %x {axis = 0 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.softmax' op requires an axis in [0, 2), got -1}}
  %r = mlc.softmax %x {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.cumsum' op requires an axis in [0, 2), got 3}}
  %r = mlc.cumsum %x {axis = 3 : i64, exclusive = false, reverse = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %s: tensor<2xf32>, %b: tensor<2xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.batch_norm' op requires an input of rank 2 or more, got 1}}
  %r = mlc.batch_norm %x, %s, %b, %m, %v {epsilon = #mlc.real<1.0e-5>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3x1xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'mlc.batch_norm' op requires parameters of rank 1, got 'tensor<3x1xf32>'}}
  %r = mlc.batch_norm %x, %s, %b, %m, %v {epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3x1xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf64>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'mlc.batch_norm' op requires operands of one element type, got 'f64' and 'f32'}}
  %r = mlc.batch_norm %x, %s, %b, %m, %v {epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<1x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'mlc.layer_norm' op requires scale and bias of rank 1, got 'tensor<1x3xf32>'}}
  %r = mlc.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf64>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'mlc.layer_norm' op requires operands of one element type, got 'f64' and 'f32'}}
  %r = mlc.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.lrn' op requires an input of rank 2 or more, got 1}}
  %r = mlc.lrn %x {size = #mlc.int<3>, alpha = #mlc.real<1.0>, beta = #mlc.real<1.0>, bias = #mlc.real<1.0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.lrn' op requires a positive size, got 0}}
  %r = mlc.lrn %x {size = #mlc.int<0>, alpha = #mlc.real<1.0>, beta = #mlc.real<1.0>, bias = #mlc.real<1.0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.batch_norm' op parameters must have one element per channel (2 == 3 does not hold)}}
  %r = mlc.batch_norm %x, %s, %s, %t, %s {epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.layer_norm' op scale must have the normalized dims (2 == 3 does not hold)}}
  %r = mlc.layer_norm %x, %t, %s {axis = 1 : i64, epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.layer_norm' op bias must have the normalized dims (2 == 3 does not hold)}}
  %r = mlc.layer_norm %x, %s, %t {axis = 1 : i64, epsilon = #mlc.real<1.0e-5>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x0xf32>) {
  // expected-error @+1 {{'mlc.arg_max' op the axis must not be empty (0 > 0 does not hold)}}
  %r = mlc.arg_max %x {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2x1xi64>
  return
}
