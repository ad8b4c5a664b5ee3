// What opaque and computed operators and attributes refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{'mlc.top_k' op requires an operand with named dims, got 'tensor<?xf32>'}}
  %r:2 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<?xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.top_k' op requires an axis in [0, 1), got 1}}
  %r:2 = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'mlc.top_k' op requires numbers, got 'i1'}}
  %r:2 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<4xi1>) -> (tensor<2xi1>, tensor<2xi64>)
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.top_k' op requires k of at most 4, got 5}}
  %r:2 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<5>, largest = true, sorted = true} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.compute' op requires a float or integer type, got 'index'}}
  %r = mlc.compute %x {definition = "(x) Y[i] = x[i]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[]>, reals = [], type = index} : (tensor<2xf32>) -> tensor<2xindex>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.compute' op requires a list of #mlc.real, got 1.000000e+00 : f64}}
  %r = mlc.compute %x {definition = "(x) Y[i] = x[i]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[]>, reals = [1.0], type = f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.compute' op requires dims that are not negative, got -2}}
  %r = mlc.compute %x {definition = "(x) Y[i] = x[i]", dims = #mlc.dims<[-2]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.compute' op definition at character 13: 'y' is not known}}
  %r = mlc.compute %x {definition = "(x) Y[i] = y[i]", dims = #mlc.dims<[2]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{unknown mlc attribute 'dim' - expected dims, int, layout or real}}
  %r = mlc.neg %x {mlc = #mlc.dim<2>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected an integer, a symbol or one of floordiv, mod, min, max}}
  %r = mlc.reshape %x {dims = #mlc.dims<[2 **]>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.top_k' op requires k that is not negative, got -1}}
  %r:2 = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<-1>, largest = true, sorted = true} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return
}
