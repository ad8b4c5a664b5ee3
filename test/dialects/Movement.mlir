// What operators that move elements refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.transpose' op requires a permutation of 2 dims}}
  %r = mlc.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.broadcast' op cannot broadcast dim 1 from 3 to 4}}
  %r = mlc.broadcast %x {dims = #mlc.dims<[2, 4]>} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.broadcast' op requires 2 dims, got 3}}
  %r = mlc.broadcast %x {dims = #mlc.dims<[2, 3, 4]>} : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1xf32>) {
  // expected-error @+1 {{'mlc.broadcast' op requires dims that are not negative, got -2}}
  %r = mlc.broadcast %x {dims = #mlc.dims<[-2]>} : (tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.reshape' op numbers of elements must be equal (6 == 5 does not hold)}}
  %r = mlc.reshape %x {dims = #mlc.dims<[5]>} : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'mlc.reverse' op requires axes in [0, 2), got 2}}
  %r = mlc.reverse %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.slice' op requires steps that are not 0}}
  %r = mlc.slice %x {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[2]>, steps = #mlc.dims<[0]>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.slice' op requires 1 starts, got 2}}
  %r = mlc.slice %x {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[2]>, steps = #mlc.dims<[1]>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.slice' op the slice must lie inside the operand (4 < 4 does not hold)}}
  %r = mlc.slice %x {starts = #mlc.dims<[3]>, sizes = #mlc.dims<[2]>, steps = #mlc.dims<[1]>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'mlc.concat' op requires 1 or more operands, got none}}
  %r = mlc.concat {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.concat' op requires an axis in [0, 1), got 1}}
  %r = mlc.concat %x, %y {axis = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{'mlc.concat' op requires operands of one rank and element type, got 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %r = mlc.concat %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.concat' op dims other than the axis must be equal (4 == 3 does not hold)}}
  %r = mlc.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.pad' op attribute 'mode' failed to satisfy constraint: constant, edge or reflect}}
  %r = mlc.pad %x {low = #mlc.dims<[1]>, high = #mlc.dims<[1]>, mode = "wrap", value = #mlc.real<0.0>} : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.pad' op requires paddings that are not negative, got -1}}
  %r = mlc.pad %x {low = #mlc.dims<[-1]>, high = #mlc.dims<[1]>, mode = "constant", value = #mlc.real<0.0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi32>) {
  // expected-error @+1 {{'mlc.pad' op requires a value that 'i32' has, got #mlc.real<5.000000e-01>}}
  %r = mlc.pad %x {low = #mlc.dims<[1]>, high = #mlc.dims<[1]>, mode = "constant", value = #mlc.real<0.5>} : (tensor<2xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.pad' op the operand must be larger than its mirrored border (2 > 2 does not hold)}}
  %r = mlc.pad %x {low = #mlc.dims<[2]>, high = #mlc.dims<[0]>, mode = "reflect", value = #mlc.real<0.0>} : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<1xi64>) {
  // expected-error @+1 {{'mlc.gather' op requires an axis in [0, 2), got 2}}
  %r = mlc.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<1xf32>) {
  // expected-error @+1 {{'mlc.gather' op requires integer indices, got 'f32'}}
  %r = mlc.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'mlc.fill' op requires a float or integer type, got 'index'}}
  %r = mlc.fill {dims = #mlc.dims<[2]>, value = #mlc.real<0.0>, type = index} : () -> tensor<2xindex>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'mlc.fill' op requires a value that 'i8' has, got #mlc.real<3.000000e+02>}}
  %r = mlc.fill {dims = #mlc.dims<[2]>, value = #mlc.real<300.0>, type = i8} : () -> tensor<2xi8>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'mlc.fill' op requires dims that are not negative, got -2}}
  %r = mlc.fill {dims = #mlc.dims<[-2]>, value = #mlc.real<0.0>, type = f32} : () -> tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'mlc.iota' op requires an axis in [0, 1), got 1}}
  %r = mlc.iota {dims = #mlc.dims<[2]>, axis = 1 : i64, start = #mlc.int<0>, step = #mlc.int<1>} : () -> tensor<2xi64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'mlc.int_tensor' op requires dims [] and 1 value, or dims [n] and n values, got 3 values}}
  %r = mlc.int_tensor {dims = #mlc.dims<[2]>, values = #mlc.dims<[1, 2, 3]>} : () -> tensor<2xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.slice' op the slice must end inside the operand (-1 >= 0 does not hold)}}
  %r = mlc.slice %x {starts = #mlc.dims<[3]>, sizes = #mlc.dims<[3]>, steps = #mlc.dims<[-2]>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error @+1 {{'mlc.pad' op the operand must have an edge to repeat (0 >= 1 does not hold)}}
  %r = mlc.pad %x {low = #mlc.dims<[2]>, high = #mlc.dims<[1]>, mode = "edge", value = #mlc.real<0.0>} : (tensor<0xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.scatter_add' op has no reduction mean}}
  %r = mlc.scatter_add %x, %i, %u {axis = 1 : i64, reduction = "mean"} : (tensor<2x3xf32>, tensor<4xi64>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.scatter_add' op requires begin and whole that are not negative, got -1}}
  %r = mlc.scatter_add %x, %i, %u {axis = 1 : i64, begin = #mlc.int<-1>} : (tensor<2x3xf32>, tensor<4xi64>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.scatter_add' op requires an axis in [0, 2), got 2}}
  %r = mlc.scatter_add %x, %i, %u {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4xi64>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xf32>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.scatter_add' op requires integer indices, got 'f32'}}
  %r = mlc.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xi1>, %i: tensor<4xi64>, %u: tensor<2x4xi1>) {
  // expected-error @+1 {{'mlc.scatter_add' op requires numbers, got 'i1'}}
  %r = mlc.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<2x3xi1>, tensor<4xi64>, tensor<2x4xi1>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %u: tensor<2x4x1xf32>) {
  // expected-error @+1 {{'mlc.scatter_add' op requires updates of rank 2 and 'f32', got 'tensor<2x4x1xf32>'}}
  %r = mlc.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4xi64>, tensor<2x4x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %u: tensor<2x5xf32>) {
  // expected-error @+1 {{'mlc.scatter_add' op updates must have the indices' dims in place of the axis (5 == 4 does not hold)}}
  %r = mlc.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4xi64>, tensor<2x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%s: tensor<i64>) {
  // expected-error @+1 {{'mlc.random_uniform' op requires a scalar step of ui64, got 'tensor<i64>'}}
  %r = mlc.random_uniform %s {dims = #mlc.dims<[2]>, seed = 0 : i64, type = f32} : (tensor<i64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%s: tensor<ui64>) {
  // expected-error @+1 {{'mlc.random_uniform' op requires a float type, got 'i64'}}
  %r = mlc.random_uniform %s {dims = #mlc.dims<[2]>, seed = 0 : i64, type = i64} : (tensor<ui64>) -> tensor<2xi64>
  return
}

// -----

func.func @f(%s: tensor<ui64>) {
  // expected-error @+1 {{'mlc.random_uniform' op requires dims that are not negative, got -2}}
  %r = mlc.random_uniform %s {dims = #mlc.dims<[-2]>, seed = 0 : i64, type = f32} : (tensor<ui64>) -> tensor<2xf32>
  return
}
