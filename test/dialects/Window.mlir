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
  %r = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (tensor<1x5xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xi1>) {
  // expected-error @+1 {{'mlc.max_pool' op requires numbers, got 'i1'}}
  %r = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (tensor<1x1x5xi1>) -> tensor<1x1x4xi1>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xf32>) {
  // expected-error @+1 {{'mlc.max_pool' op requires 1 ceil_pads, got 2}}
  %r = mlc.max_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0, 0]>} : (tensor<1x1x5xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xi32>) {
  // expected-error @+1 {{'mlc.avg_pool' op requires floats, got 'i32'}}
  %r = mlc.avg_pool %x {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (tensor<1x1x5xi32>) -> tensor<1x1x4xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<3x4x5xf32>) {
  // expected-error @+1 {{'mlc.matmul' op batch dims of both operands must be equal (2 == 3 does not hold)}}
  %r = mlc.matmul %x, %y : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<3x2x3xf32>) {
  // expected-error @+1 {{'mlc.conv' op output channels must be a multiple of groups (1 == 0 does not hold)}}
  %r = mlc.conv %x, %w {groups = #mlc.int<2>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>} : (tensor<1x4x5xf32>, tensor<3x2x3xf32>) -> tensor<1x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x0x5xf32>, %w: tensor<2x4x3xf32>) {
  // expected-error @+1 {{'mlc.conv' op groups must be positive (0 > 0 does not hold)}}
  %r = mlc.conv %x, %w {groups = #mlc.int<0>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>} : (tensor<1x0x5xf32>, tensor<2x4x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<2x4x0xf32>) {
  // expected-error @+1 {{'mlc.conv' op the kernel must not be empty (0 > 0 does not hold)}}
  %r = mlc.conv %x, %w {groups = #mlc.int<1>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>} : (tensor<1x4x5xf32>, tensor<2x4x0xf32>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<2x4x9xf32>) {
  // expected-error @+1 {{'mlc.conv' op the padded input is too small for the window in spatial dim 0 (6 >= 9 does not hold)}}
  %r = mlc.conv %x, %w {groups = #mlc.int<1>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>} : (tensor<1x4x5xf32>, tensor<2x4x9xf32>) -> tensor<1x2x0xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<3x2x3xf32>) {
  // expected-error @+1 {{'mlc.conv_transpose' op input channels must equal the weight's first dim (4 == 3 does not hold)}}
  %r = mlc.conv_transpose %x, %w {groups = #mlc.int<1>, output_padding = #mlc.dims<[0]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>} : (tensor<1x4x5xf32>, tensor<3x2x3xf32>) -> tensor<1x2x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{'mlc.conv_transpose' op input channels must be a multiple of groups (1 == 0 does not hold)}}
  %r = mlc.conv_transpose %x, %w {groups = #mlc.int<3>, output_padding = #mlc.dims<[0]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>} : (tensor<1x4x5xf32>, tensor<4x2x3xf32>) -> tensor<1x6x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{'mlc.conv_transpose' op pads must not exceed the output in spatial dim 0 (-1 >= 0 does not hold)}}
  %r = mlc.conv_transpose %x, %w {groups = #mlc.int<1>, output_padding = #mlc.dims<[0]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[4, 4]>, dilations = #mlc.dims<[1]>} : (tensor<1x4x5xf32>, tensor<4x2x3xf32>) -> tensor<1x2x0xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x5xf32>) {
  // expected-error @+1 {{'mlc.max_pool' op requires a kernel of 1 or more dims, got none}}
  %r = mlc.max_pool %x {kernel = #mlc.dims<[]>, ceil_pads = #mlc.dims<[]>, strides = #mlc.dims<[]>, pads = #mlc.dims<[]>, dilations = #mlc.dims<[]>} : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  return
}
