// What convolutions, pools and products of matrices refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>, %y: tensor<1x3x4xf32>) {
  // expected-error @+1 {{'mlc.matmul' op requires operands of one rank, 2 or more, got 2 and 3}}
  %r = mlc.matmul %x, %y {} : (tensor<2x3xf32>, tensor<1x3x4xf32>) -> tensor<1x2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf64>) {
  // expected-error @+1 {{'mlc.matmul' op requires operands of one element type, got 'f32' and 'f64'}}
  %r = mlc.matmul %x, %y {} : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<4x4xf32>) {
  // expected-error @+1 {{'mlc.matmul' op columns of the left must equal rows of the right operand (3 == 4 does not hold)}}
  %r = mlc.matmul %x, %y {} : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>, %w: tensor<3x2x1xf64>) {
  // expected-error @+1 {{'mlc.conv' op requires operands of one element type, got 'f32' and 'f64'}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x5xf32>, tensor<3x2x1xf64>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xi1>, %w: tensor<3x2x1xi1>) {
  // expected-error @+1 {{'mlc.conv' op requires numbers, got 'i1'}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x5xi1>, tensor<3x2x1xi1>) -> tensor<1x3x5xi1>
  return
}

// -----

func.func @f(%x: tensor<1x2xf32>, %w: tensor<3x2xf32>) {
  // expected-error @+1 {{'mlc.conv' op requires an input of rank 3 or more, got 2}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>, %w: tensor<3x2x1x1xf32>) {
  // expected-error @+1 {{'mlc.conv' op requires a weight of rank 3, got 4}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>, %w: tensor<3x2x1xf32>) {
  // expected-error @+1 {{'mlc.conv' op requires 1 strides, got 2}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x5xf32>, tensor<3x2x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>, %w: tensor<3x2x1xf32>) {
  // expected-error @+1 {{'mlc.conv' op requires pads that are not negative, got -1 - insert mlc.slice}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[-1, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x5xf32>, tensor<3x2x1xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>, %w: tensor<3x2x1xf32>) {
  // expected-error @+1 {{'mlc.conv' op requires strides and dilations that are positive, got 0}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[0]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x5xf32>, tensor<3x2x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<3x2x1xf32>) {
  // expected-error @+1 {{'mlc.conv' op input channels must be groups times the weight's channels (4 == 2 does not hold)}}
  %r = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x4x5xf32>, tensor<3x2x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>, %w: tensor<2x3x1xf32>) {
  // expected-error @+1 {{'mlc.conv_transpose' op requires 1 output_padding, got 2}}
  %r = mlc.conv_transpose %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>, output_padding = #mlc.dims<[0, 0]>} : (tensor<1x2x5xf32>, tensor<2x3x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x5xf32>) {
  // expected-error @+1 {{'mlc.max_pool' op requires an input of rank 3 or more, got 2}}
  %r = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, overhang = #mlc.dims<[0]>} : (tensor<1x5xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xi1>) {
  // expected-error @+1 {{'mlc.max_pool' op requires numbers, got 'i1'}}
  %r = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, overhang = #mlc.dims<[0]>} : (tensor<1x1x5xi1>) -> tensor<1x1x4xi1>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xf32>) {
  // expected-error @+1 {{'mlc.max_pool' op requires 1 overhang, got 2}}
  %r = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, overhang = #mlc.dims<[0, 0]>} : (tensor<1x1x5xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xi32>) {
  // expected-error @+1 {{'mlc.avg_pool' op requires floats, got 'i32'}}
  %r = mlc.avg_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, overhang = #mlc.dims<[0]>, count_include_pad = false} : (tensor<1x1x5xi32>) -> tensor<1x1x4xi32>
  return
}
