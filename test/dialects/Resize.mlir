// What mlc.resize refuses.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op requires 1 dims, got 2}}
  %r = mlc.resize %x {dims = #mlc.dims<[8, 8]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = []} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op attribute 'mode' failed to satisfy constraint: nearest or linear}}
  %r = mlc.resize %x {dims = #mlc.dims<[8]>, mode = "cubic", transform = "asymmetric", nearest_mode = "floor", scales = []} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op attribute 'transform' failed to satisfy constraint: half_pixel, pytorch_half_pixel, asymmetric or align_corners}}
  %r = mlc.resize %x {dims = #mlc.dims<[8]>, mode = "nearest", transform = "centre", nearest_mode = "floor", scales = []} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op attribute 'nearest_mode' failed to satisfy constraint: round_prefer_floor, round_prefer_ceil, floor or ceil}}
  %r = mlc.resize %x {dims = #mlc.dims<[8]>, mode = "nearest", transform = "asymmetric", nearest_mode = "up", scales = []} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op requires no or 1 scales, got 2}}
  %r = mlc.resize %x {dims = #mlc.dims<[8]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = [#mlc.real<2.0>, #mlc.real<2.0>]} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op requires scales of mlc.real, got 2.000000e+00 : f64}}
  %r = mlc.resize %x {dims = #mlc.dims<[8]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = [2.0]} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'mlc.resize' op requires floats for mode linear, got 'i32'}}
  %r = mlc.resize %x {dims = #mlc.dims<[8]>, mode = "linear", transform = "asymmetric", nearest_mode = "floor", scales = []} : (tensor<4xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mlc.resize' op requires dims that are not negative, got -4}}
  %r = mlc.resize %x {dims = #mlc.dims<[-4]>, mode = "nearest", nearest_mode = "floor", scales = [], transform = "asymmetric"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error @+1 {{'mlc.resize' op the operand must not be empty (0 > 0 does not hold)}}
  %r = mlc.resize %x {dims = #mlc.dims<[4]>, mode = "nearest", nearest_mode = "floor", scales = [], transform = "asymmetric"} : (tensor<0xf32>) -> tensor<4xf32>
  return
}
