// What is no program yet.
// RUN: mlc-opt %s --mlc-lower-to-linalg --split-input-file --verify-diagnostics

func.func @pads(%x: tensor<6xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has the parameter 'a', which has no value; write a number in its place}}
  %0 = mlc.pad %x {high = #mlc.dims<[2]>, low = #mlc.dims<[0]>, mode = "constant", value = #mlc.real<a>} : (tensor<6xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Nor where an operator stands for another.
func.func @laid_out(%x: tensor<6xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has the parameter 'a', which has no value; write a number in its place}}
  %0 = mlc.laid_out %x {layouts = [#mlc.layout<[a]>, #mlc.layout<[a]>], plain_op = "mlc.pad", plain_attributes = {high = #mlc.dims<[2]>, low = #mlc.dims<[0]>, mode = "constant", value = #mlc.real<a>}} : (tensor<6xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @+1 {{cannot lower a value of type 'tensor<?xf32>'}}
func.func @open(%x: tensor<?xf32>) {
  return
}
