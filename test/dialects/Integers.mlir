// What dims, and the integers that they are made of, are refused for.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{floordiv requires exactly 2 operands, got 1}}
  %r = mlc.reshape %x {dims = #mlc.dims<[floordiv(2)]>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{max requires at least 2 operands, got 1}}
  %r = mlc.reshape %x {dims = #mlc.dims<[max(2)]>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{the divisor of mod must be positive, got 0}}
  %r = mlc.reshape %x {dims = #mlc.dims<[mod(n, 0)]>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{the divisor of floordiv must be positive, got -3}}
  %r = mlc.reshape %x {dims = #mlc.dims<[floordiv(n, -3)]>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{names 1 dims of a tensor of 2}}
func.func private @f(tensor<2x?xf32, #mlc.dims<[n]>>)

// -----

// expected-error @+1 {{names dim 1 4, but its size is 3}}
func.func private @f(tensor<?x3xf32, #mlc.dims<[n, 4]>>)

// -----

// expected-error @+1 {{requires dims that are not negative, got -1}}
func.func private @f(tensor<?xf32, #mlc.dims<[-1]>>)
