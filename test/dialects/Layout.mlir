// What layouts and operators on stored tensors refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.pack' op requires an operand that fits #mlc.layout<[a, b div 4, b mod 4], b = 3>, got 'tensor<2xf32>'}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, b div 4, b mod 4], b = 3>} : (tensor<2xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x5xf32>) {
  // expected-error @+1 {{'mlc.pack' op requires an operand that fits #mlc.layout<[a, b div 4, b mod 4], b = 3>, got 'tensor<1x5xf32>'}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, b div 4, b mod 4], b = 3>} : (tensor<1x5xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x4xf32>) {
  // expected-error @+1 {{'mlc.unpack' op requires an operand stored as #mlc.layout<[a, b div 4, b mod 4], b = 9> says, got 'tensor<1x2x4xf32>'}}
  %r = mlc.unpack %x {layout = #mlc.layout<[a, b div 4, b mod 4], b = 9>} : (tensor<1x2x4xf32>) -> tensor<1x9xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error @+1 {{requires one block for div and mod}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, b div 4, c, b mod 8], b = 2>} : (tensor<1x2x3xf32>) -> tensor<1x1x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error @+1 {{requires sizes, positive blocks and groups that divide sizes, got b = 3 in 2 with blocks of 4}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 3 in 2>} : (tensor<1x3x3xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error @+1 {{requires sizes, positive blocks and groups that divide sizes, got b = 2 in 1 with blocks of 0}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, b div 0, c, b mod 0], b = 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error @+1 {{gives a size twice or of no dim}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 2, b = 2>} : (tensor<1x2x3xf32>) -> tensor<1x1x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error @+1 {{requires every dim once, as it is, or cut (div and mod of one block, with its size), or left out with size 1; dim a is not}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, c, a]>} : (tensor<1x2x3xf32>) -> tensor<1x3x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected a dim from a to z, got 'channels'}}
  %r = mlc.pack %x {layout = #mlc.layout<[a, channels]>} : (tensor<1x2x3xf32>) -> tensor<1x3x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op requires one #mlc.layout for each operand and one for the result}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b]>], plain_attributes = {}, plain_op = "mlc.relu"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op requires the name of an operator with a definition, got 'func.func'}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b]>, #mlc.layout<[a, b]>], plain_attributes = {}, plain_op = "func.func"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op requires the name of an operator with a definition, got 'mlc.laid_out'}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b]>, #mlc.layout<[a, b]>], plain_attributes = {}, plain_op = "mlc.laid_out"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op requires operand #0 stored as #mlc.layout<[a, b div 4, b mod 4], b = 3> says, got 'tensor<1x2xf32>'}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b div 4, b mod 4], b = 3>, #mlc.layout<[a, b]>], plain_attributes = {}, plain_op = "mlc.relu"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return
}

// -----

// A sum over channels keeps no channels.
func.func @f(%x: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: the result has other dims than its layout}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 8>, #mlc.layout<[a, b div 4, c, b mod 4], b = 8>], plain_attributes = {axes = array<i64: 1>, kind = "sum"}, plain_op = "mlc.reduce"} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return
}

// -----

// The largest of a filled block may be a fill.
func.func @f(%x: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: fills are no part of a max}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 7>, #mlc.layout<[a, b, c]>], plain_attributes = {axes = array<i64: 1>, kind = "max"}, plain_op = "mlc.reduce"} : (tensor<1x2x5x4xf32>) -> tensor<1x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: an index of a cut dim is no loop over one}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 8>, #mlc.layout<[a, b div 4, c, b mod 4], b = 5>], plain_attributes = {permutation = array<i64: 0, 2, 1>}, plain_op = "mlc.transpose"} : (tensor<1x2x5x4xf32>) -> tensor<1x2x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5x4xf32>, %y: tensor<1x3x5x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: dims that are cut in different ways meet}}
  %r = mlc.laid_out %x, %y {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 6>, #mlc.layout<[a, b div 4, c, b mod 4], b = 6 in 3>, #mlc.layout<[a, b div 4, c, b mod 4], b = 6>], plain_attributes = {}, plain_op = "mlc.add"} : (tensor<1x2x5x4xf32>, tensor<1x3x5x4xf32>) -> tensor<1x2x5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5x4xf32>, %y: tensor<1x1x5x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: a part of a cut dim that is not of whole blocks}}
  %r = mlc.laid_out %x, %y {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 6>, #mlc.layout<[a, b div 4, c, b mod 4], b = 4>, #mlc.layout<[a, b div 4, c, b mod 4], b = 10>], plain_attributes = {axis = 1 : i64}, plain_op = "mlc.concat"} : (tensor<1x2x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x3x5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: elements would be fills}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b div 4, c, b mod 4], b = 8>, #mlc.layout<[a, b div 4, c, b mod 4], b = 3>], plain_attributes = {sizes = #mlc.dims<[1, 3, 5]>, starts = #mlc.dims<[0, 4, 0]>, steps = #mlc.dims<[1, 1, 1]>}, plain_op = "mlc.slice"} : (tensor<1x2x5x4xf32>) -> tensor<1x1x5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x5xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: a loop over a cut dim is the index of one that is not cut}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b, c]>, #mlc.layout<[a, b div 4, c, b mod 4], b = 8>], plain_attributes = {}, plain_op = "mlc.relu"} : (tensor<1x8x5xf32>) -> tensor<1x2x5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: a dim that is left out is read elsewhere than at 0}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, c], b = 1>, #mlc.layout<[a, b, c]>], plain_attributes = {axes = array<i64: 1>}, plain_op = "mlc.reverse"} : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32, #mlc.dims<[N, 4]>>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: the result has other dims than its layout}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b]>, #mlc.layout<[a div 4, b, a mod 4], a = 8>], plain_attributes = {}, plain_op = "mlc.relu"} : (tensor<?x4xf32, #mlc.dims<[N, 4]>>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x?x5xf32, #mlc.dims<[1, s, 5]>>, %y: tensor<1x?x5xf32, #mlc.dims<[1, 8 - 1 * s, 5]>>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: a part of open size of a cut dim}}
  %r = mlc.laid_out %x, %y {layouts = [#mlc.layout<[a, b, c]>, #mlc.layout<[a, b, c]>, #mlc.layout<[a, b div 4, c, b mod 4], b = 8>], plain_attributes = {axis = 1 : i64}, plain_op = "mlc.concat"} : (tensor<1x?x5xf32, #mlc.dims<[1, s, 5]>>, tensor<1x?x5xf32, #mlc.dims<[1, 8 - 1 * s, 5]>>) -> tensor<1x2x5x4xf32>
  return
}

// -----

// Behind 3 channels in blocks of 2 lies a fill, which is not what is padded.
func.func @f(%x: tensor<1x2x5x2xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: a cut dim is read past its end}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b div 2, c, b mod 2], b = 3>, #mlc.layout<[a, b div 2, c, b mod 2], b = 4>], plain_attributes = {high = #mlc.dims<[0, 1, 0]>, low = #mlc.dims<[0, 0, 0]>, mode = "constant", value = #mlc.real<-2.0>}, plain_op = "mlc.pad"} : (tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
  return
}

// -----

func.func @f(%x: tensor<1x1x5xf32>, %y: tensor<1x0x5xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op has no definition in these layouts: a part of a cut dim that is not of whole blocks}}
  %r = mlc.laid_out %x, %y {layouts = [#mlc.layout<[a, b, c]>, #mlc.layout<[a, b, c]>, #mlc.layout<[a, c], b = 1>], plain_attributes = {axis = 1 : i64}, plain_op = "mlc.concat"} : (tensor<1x1x5xf32>, tensor<1x0x5xf32>) -> tensor<1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'mlc.cast' op requires attribute 'to'}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a div 4, a mod 4], a = 5>, #mlc.layout<[a div 4, a mod 4], a = 5>], plain_attributes = {}, plain_op = "mlc.cast"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x2x5xf32>) {
  // expected-error @+1 {{'mlc.conv' op requires 2 operands, got 1}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a, b, c]>, #mlc.layout<[a, b, c]>], plain_attributes = {}, plain_op = "mlc.conv"} : (tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.relu' op requires 1 operands, got 2}}
  %r = mlc.laid_out %x, %x {layouts = [#mlc.layout<[a]>, #mlc.layout<[a]>, #mlc.layout<[a]>], plain_attributes = {}, plain_op = "mlc.relu"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'mlc.laid_out' op gives mlc.relu an attribute 'foo', which it does not have}}
  %r = mlc.laid_out %x {layouts = [#mlc.layout<[a]>, #mlc.layout<[a]>], plain_attributes = {foo = 3}, plain_op = "mlc.relu"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
