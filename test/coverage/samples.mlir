// Sample instances of every operator: one plain, one with a dim of size 0 and one
// with symbolic dims, where the operator allows it. The coverage test fails for an
// operator without a plain sample and asks each of them every question.
// A function's name tells the operator; `_empty` and `_symbolic` the kind.

func.func @neg(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.neg %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @neg_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.neg %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @neg_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.neg %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @abs(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.abs %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @abs_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.abs %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @abs_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.abs %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @exp(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.exp %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @exp_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.exp %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @exp_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.exp %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @log(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.log %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @log_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.log %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @log_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.log %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @sqrt(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.sqrt %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @sqrt_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.sqrt %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @sqrt_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.sqrt %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @reciprocal(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.reciprocal %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @reciprocal_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.reciprocal %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @reciprocal_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.reciprocal %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @tanh(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.tanh %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @tanh_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.tanh %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @tanh_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.tanh %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @erf(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.erf %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @erf_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.erf %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @erf_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.erf %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @sin(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.sin %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @sin_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.sin %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @sin_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.sin %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @cos(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.cos %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @cos_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.cos %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @cos_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.cos %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @floor(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.floor %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @floor_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.floor %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @floor_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.floor %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @ceil(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.ceil %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @ceil_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.ceil %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @ceil_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.ceil %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @round_even(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.round_even %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @round_even_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.round_even %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @round_even_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.round_even %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @sigmoid(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.sigmoid %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @sigmoid_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.sigmoid %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @sigmoid_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.sigmoid %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @relu(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.relu %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @relu_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.relu %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @relu_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.relu %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @sign(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.sign %a : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @sign_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.sign %a : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @sign_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.sign %a : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @not(%a: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r0 = mlc.not %a : (tensor<2x3xi1>) -> (tensor<2x3xi1>)
  return %r0 : tensor<2x3xi1>
}

func.func @not_empty(%a: tensor<0x3xi1>) -> (tensor<0x3xi1>) {
  %r0 = mlc.not %a : (tensor<0x3xi1>) -> (tensor<0x3xi1>)
  return %r0 : tensor<0x3xi1>
}

func.func @not_symbolic(%a: tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.not %a : (tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi1, #mlc.dims<[N, 3]>>
}

func.func @leaky_relu(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.leaky_relu %a {alpha = #mlc.real<0.1>} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @leaky_relu_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.leaky_relu %a {alpha = #mlc.real<0.1>} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @leaky_relu_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.leaky_relu %a {alpha = #mlc.real<0.1>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @elu(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.elu %a {alpha = #mlc.real<1.0>} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @elu_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.elu %a {alpha = #mlc.real<1.0>} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @elu_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.elu %a {alpha = #mlc.real<1.0>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @hard_sigmoid(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.hard_sigmoid %a {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @hard_sigmoid_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.hard_sigmoid %a {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @hard_sigmoid_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.hard_sigmoid %a {alpha = #mlc.real<0.2>, beta = #mlc.real<0.5>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @clip(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.clip %a {min = #mlc.real<0.5>, max = #mlc.real<"inf">} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @clip_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.clip %a {min = #mlc.real<0.5>, max = #mlc.real<"inf">} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @clip_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.clip %a {min = #mlc.real<0.5>, max = #mlc.real<"inf">} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @add(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @add_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.add %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @add_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.add %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @sub(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.sub %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @sub_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.sub %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @sub_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.sub %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @mul(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.mul %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @mul_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.mul %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @mul_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.mul %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @div(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.div %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @div_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.div %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @div_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.div %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @pow(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.pow %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @pow_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.pow %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @pow_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.pow %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @min(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.min %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @min_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.min %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @min_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.min %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @max(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.max %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @max_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.max %a, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @max_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.max %a, %b : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @mod(%a: tensor<2x3xi32>, %b: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
  %r0 = mlc.mod %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> (tensor<2x3xi32>)
  return %r0 : tensor<2x3xi32>
}

func.func @mod_empty(%a: tensor<0x3xi32>, %b: tensor<0x3xi32>) -> (tensor<0x3xi32>) {
  %r0 = mlc.mod %a, %b : (tensor<0x3xi32>, tensor<0x3xi32>) -> (tensor<0x3xi32>)
  return %r0 : tensor<0x3xi32>
}

func.func @mod_symbolic(%a: tensor<?x3xi32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xi32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.mod %a, %b : (tensor<?x3xi32, #mlc.dims<[N, 3]>>, tensor<?x3xi32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi32, #mlc.dims<[N, 3]>>
}

func.func @and(%a: tensor<2x3xi1>, %b: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r0 = mlc.and %a, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> (tensor<2x3xi1>)
  return %r0 : tensor<2x3xi1>
}

func.func @and_empty(%a: tensor<0x3xi1>, %b: tensor<0x3xi1>) -> (tensor<0x3xi1>) {
  %r0 = mlc.and %a, %b : (tensor<0x3xi1>, tensor<0x3xi1>) -> (tensor<0x3xi1>)
  return %r0 : tensor<0x3xi1>
}

func.func @and_symbolic(%a: tensor<?x3xi1, #mlc.dims<[N, 3]>>, %b: tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.and %a, %b : (tensor<?x3xi1, #mlc.dims<[N, 3]>>, tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi1, #mlc.dims<[N, 3]>>
}

func.func @or(%a: tensor<2x3xi1>, %b: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r0 = mlc.or %a, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> (tensor<2x3xi1>)
  return %r0 : tensor<2x3xi1>
}

func.func @or_empty(%a: tensor<0x3xi1>, %b: tensor<0x3xi1>) -> (tensor<0x3xi1>) {
  %r0 = mlc.or %a, %b : (tensor<0x3xi1>, tensor<0x3xi1>) -> (tensor<0x3xi1>)
  return %r0 : tensor<0x3xi1>
}

func.func @or_symbolic(%a: tensor<?x3xi1, #mlc.dims<[N, 3]>>, %b: tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.or %a, %b : (tensor<?x3xi1, #mlc.dims<[N, 3]>>, tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi1, #mlc.dims<[N, 3]>>
}

func.func @xor(%a: tensor<2x3xi1>, %b: tensor<2x3xi1>) -> (tensor<2x3xi1>) {
  %r0 = mlc.xor %a, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> (tensor<2x3xi1>)
  return %r0 : tensor<2x3xi1>
}

func.func @xor_empty(%a: tensor<0x3xi1>, %b: tensor<0x3xi1>) -> (tensor<0x3xi1>) {
  %r0 = mlc.xor %a, %b : (tensor<0x3xi1>, tensor<0x3xi1>) -> (tensor<0x3xi1>)
  return %r0 : tensor<0x3xi1>
}

func.func @xor_symbolic(%a: tensor<?x3xi1, #mlc.dims<[N, 3]>>, %b: tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.xor %a, %b : (tensor<?x3xi1, #mlc.dims<[N, 3]>>, tensor<?x3xi1, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi1, #mlc.dims<[N, 3]>>
}

func.func @compare(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xi1>) {
  %r0 = mlc.compare %a, %b {predicate = "lt"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xi1>)
  return %r0 : tensor<2x3xi1>
}

func.func @compare_empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> (tensor<0x3xi1>) {
  %r0 = mlc.compare %a, %b {predicate = "lt"} : (tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xi1>)
  return %r0 : tensor<0x3xi1>
}

func.func @compare_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.compare %a, %b {predicate = "lt"} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xi1, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi1, #mlc.dims<[N, 3]>>
}

func.func @select(%a: tensor<2x3xi1>, %b: tensor<2x3xf32>, %c: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.select %a, %b, %c : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @cast(%a: tensor<2x3xi64>) -> (tensor<2x3xf32>) {
  %r0 = mlc.cast %a {to = f32} : (tensor<2x3xi64>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @cast_narrowing(%a: tensor<2x3xf32>) -> (tensor<2x3xf16>) {
  %r0 = mlc.cast %a {to = f16} : (tensor<2x3xf32>) -> (tensor<2x3xf16>)
  return %r0 : tensor<2x3xf16>
}

func.func @select_empty(%a: tensor<0x3xi1>, %b: tensor<0x3xf32>, %c: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.select %a, %b, %c : (tensor<0x3xi1>, tensor<0x3xf32>, tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @cast_empty(%a: tensor<0x3xi64>) -> (tensor<0x3xf32>) {
  %r0 = mlc.cast %a {to = f32} : (tensor<0x3xi64>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @cast_narrowing_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf16>) {
  %r0 = mlc.cast %a {to = f16} : (tensor<0x3xf32>) -> (tensor<0x3xf16>)
  return %r0 : tensor<0x3xf16>
}

func.func @select_symbolic(%a: tensor<?x3xi1, #mlc.dims<[N, 3]>>, %b: tensor<?x3xf32, #mlc.dims<[N, 3]>>, %c: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.select %a, %b, %c : (tensor<?x3xi1, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @cast_symbolic(%a: tensor<?x3xi64, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.cast %a {to = f32} : (tensor<?x3xi64, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @cast_narrowing_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf16, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.cast %a {to = f16} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf16, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf16, #mlc.dims<[N, 3]>>
}

func.func @matmul(%a: tensor<2x2x3xf32>, %b: tensor<2x3x4xf32>) -> (tensor<2x2x4xf32>) {
  %r0 = mlc.matmul %a, %b : (tensor<2x2x3xf32>, tensor<2x3x4xf32>) -> (tensor<2x2x4xf32>)
  return %r0 : tensor<2x2x4xf32>
}

func.func @matmul_empty(%a: tensor<2x2x0xf32>, %b: tensor<2x0x4xf32>) -> (tensor<2x2x4xf32>) {
  %r0 = mlc.matmul %a, %b : (tensor<2x2x0xf32>, tensor<2x0x4xf32>) -> (tensor<2x2x4xf32>)
  return %r0 : tensor<2x2x4xf32>
}

func.func @matmul_symbolic(%a: tensor<2x?x?xf32, #mlc.dims<[2, M, K]>>, %b: tensor<2x?x4xf32, #mlc.dims<[2, K, 4]>>) -> (tensor<2x?x4xf32, #mlc.dims<[2, M, 4]>>) {
  %r0 = mlc.matmul %a, %b : (tensor<2x?x?xf32, #mlc.dims<[2, M, K]>>, tensor<2x?x4xf32, #mlc.dims<[2, K, 4]>>) -> (tensor<2x?x4xf32, #mlc.dims<[2, M, 4]>>)
  return %r0 : tensor<2x?x4xf32, #mlc.dims<[2, M, 4]>>
}

func.func @conv(%a: tensor<1x4x5x6xf32>, %b: tensor<6x2x3x2xf32>) -> (tensor<1x6x3x5xf32>) {
  %r0 = mlc.conv %a, %b {strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<2>} : (tensor<1x4x5x6xf32>, tensor<6x2x3x2xf32>) -> (tensor<1x6x3x5xf32>)
  return %r0 : tensor<1x6x3x5xf32>
}

func.func @conv_empty(%a: tensor<0x4x5x6xf32>, %b: tensor<6x2x3x2xf32>) -> (tensor<0x6x3x5xf32>) {
  %r0 = mlc.conv %a, %b {strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<2>} : (tensor<0x4x5x6xf32>, tensor<6x2x3x2xf32>) -> (tensor<0x6x3x5xf32>)
  return %r0 : tensor<0x6x3x5xf32>
}

func.func @conv_symbolic(%a: tensor<?x4x?x6xf32, #mlc.dims<[N, 4, 2 * H + 1, 6]>>, %b: tensor<6x2x3x2xf32>) -> (tensor<?x6x?x5xf32, #mlc.dims<[N, 6, H + 1, 5]>>) {
  %r0 = mlc.conv %a, %b {strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 2]>, groups = #mlc.int<2>} : (tensor<?x4x?x6xf32, #mlc.dims<[N, 4, 2 * H + 1, 6]>>, tensor<6x2x3x2xf32>) -> (tensor<?x6x?x5xf32, #mlc.dims<[N, 6, H + 1, 5]>>)
  return %r0 : tensor<?x6x?x5xf32, #mlc.dims<[N, 6, H + 1, 5]>>
}

func.func @conv_transpose(%a: tensor<1x4x4xf32>, %b: tensor<4x3x3xf32>) -> (tensor<1x6x9xf32>) {
  %r0 = mlc.conv_transpose %a, %b {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 0]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[1]>, groups = #mlc.int<2>} : (tensor<1x4x4xf32>, tensor<4x3x3xf32>) -> (tensor<1x6x9xf32>)
  return %r0 : tensor<1x6x9xf32>
}

func.func @conv_transpose_empty(%a: tensor<0x4x4xf32>, %b: tensor<4x3x3xf32>) -> (tensor<0x6x9xf32>) {
  %r0 = mlc.conv_transpose %a, %b {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 0]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[1]>, groups = #mlc.int<2>} : (tensor<0x4x4xf32>, tensor<4x3x3xf32>) -> (tensor<0x6x9xf32>)
  return %r0 : tensor<0x6x9xf32>
}

func.func @conv_transpose_symbolic(%a: tensor<?x4x?xf32, #mlc.dims<[N, 4, L]>>, %b: tensor<4x3x3xf32>) -> (tensor<?x6x?xf32, #mlc.dims<[N, 6, 2 * L + 1]>>) {
  %r0 = mlc.conv_transpose %a, %b {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 0]>, dilations = #mlc.dims<[1]>, output_padding = #mlc.dims<[1]>, groups = #mlc.int<2>} : (tensor<?x4x?xf32, #mlc.dims<[N, 4, L]>>, tensor<4x3x3xf32>) -> (tensor<?x6x?xf32, #mlc.dims<[N, 6, 2 * L + 1]>>)
  return %r0 : tensor<?x6x?xf32, #mlc.dims<[N, 6, 2 * L + 1]>>
}

func.func @laid_out(%a: tensor<1x2x4x5x4xf32>, %b: tensor<3x2x3x3x4x8xf32>) -> (tensor<1x3x2x2x8xf32>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 8, b div 4, c, d, b mod 4, a mod 8], a = 24, b = 8>, #mlc.layout<[a, b div 8, c, d, b mod 8], b = 24>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<1x2x4x5x4xf32>, tensor<3x2x3x3x4x8xf32>) -> (tensor<1x3x2x2x8xf32>)
  return %r0 : tensor<1x3x2x2x8xf32>
}

func.func @laid_out_to_blocks(%a: tensor<1x3x4x5xf32>, %b: tensor<2x3x3x3x4xf32>) -> (tensor<1x2x2x2x4xf32>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b, c, d]>, #mlc.layout<[a div 4, b, c, d, a mod 4], a = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<1x3x4x5xf32>, tensor<2x3x3x3x4xf32>) -> (tensor<1x2x2x2x4xf32>)
  return %r0 : tensor<1x2x2x2x4xf32>
}

func.func @laid_out_depthwise(%a: tensor<1x2x4x5x4xf32>, %b: tensor<2x3x3x4xf32>) -> (tensor<1x2x2x2x4xf32>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, c, d, a mod 4], a = 8, b = 1>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<8>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<1x2x4x5x4xf32>, tensor<2x3x3x4xf32>) -> (tensor<1x2x2x2x4xf32>)
  return %r0 : tensor<1x2x2x2x4xf32>
}

func.func @laid_out_empty(%a: tensor<0x2x4x5x4xf32>, %b: tensor<3x2x3x3x4x8xf32>) -> (tensor<0x3x2x2x8xf32>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 8, b div 4, c, d, b mod 4, a mod 8], a = 24, b = 8>, #mlc.layout<[a, b div 8, c, d, b mod 8], b = 24>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<0x2x4x5x4xf32>, tensor<3x2x3x3x4x8xf32>) -> (tensor<0x3x2x2x8xf32>)
  return %r0 : tensor<0x3x2x2x8xf32>
}

func.func @laid_out_to_blocks_empty(%a: tensor<0x3x4x5xf32>, %b: tensor<2x3x3x3x4xf32>) -> (tensor<0x2x2x2x4xf32>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b, c, d]>, #mlc.layout<[a div 4, b, c, d, a mod 4], a = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<0x3x4x5xf32>, tensor<2x3x3x3x4xf32>) -> (tensor<0x2x2x2x4xf32>)
  return %r0 : tensor<0x2x2x2x4xf32>
}

func.func @laid_out_depthwise_empty(%a: tensor<0x2x4x5x4xf32>, %b: tensor<2x3x3x4xf32>) -> (tensor<0x2x2x2x4xf32>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, c, d, a mod 4], a = 8, b = 1>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<8>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<0x2x4x5x4xf32>, tensor<2x3x3x4xf32>) -> (tensor<0x2x2x2x4xf32>)
  return %r0 : tensor<0x2x2x2x4xf32>
}

func.func @laid_out_symbolic(%a: tensor<?x2x?x5x4xf32, #mlc.dims<[N, 2, H + 2, 5, 4]>>, %b: tensor<3x2x3x3x4x8xf32>) -> (tensor<?x3x?x2x8xf32, #mlc.dims<[N, 3, H, 2, 8]>>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 8, b div 4, c, d, b mod 4, a mod 8], a = 24, b = 8>, #mlc.layout<[a, b div 8, c, d, b mod 8], b = 24>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<?x2x?x5x4xf32, #mlc.dims<[N, 2, H + 2, 5, 4]>>, tensor<3x2x3x3x4x8xf32>) -> (tensor<?x3x?x2x8xf32, #mlc.dims<[N, 3, H, 2, 8]>>)
  return %r0 : tensor<?x3x?x2x8xf32, #mlc.dims<[N, 3, H, 2, 8]>>
}

func.func @laid_out_to_blocks_symbolic(%a: tensor<?x3x?x5xf32, #mlc.dims<[N, 3, H + 2, 5]>>, %b: tensor<2x3x3x3x4xf32>) -> (tensor<?x2x?x2x4xf32, #mlc.dims<[N, 2, H, 2, 4]>>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b, c, d]>, #mlc.layout<[a div 4, b, c, d, a mod 4], a = 8>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<?x3x?x5xf32, #mlc.dims<[N, 3, H + 2, 5]>>, tensor<2x3x3x3x4xf32>) -> (tensor<?x2x?x2x4xf32, #mlc.dims<[N, 2, H, 2, 4]>>)
  return %r0 : tensor<?x2x?x2x4xf32, #mlc.dims<[N, 2, H, 2, 4]>>
}

func.func @laid_out_depthwise_symbolic(%a: tensor<?x2x?x5x4xf32, #mlc.dims<[N, 2, H + 2, 5, 4]>>, %b: tensor<2x3x3x4xf32>) -> (tensor<?x2x?x2x4xf32, #mlc.dims<[N, 2, H, 2, 4]>>) {
  %r0 = mlc.laid_out %a, %b {layouts = [#mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>, #mlc.layout<[a div 4, c, d, a mod 4], a = 8, b = 1>, #mlc.layout<[a, b div 4, c, d, b mod 4], b = 8>], plain_attributes = {dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<8>, pads = #mlc.dims<[0, 0, 0, 0]>, strides = #mlc.dims<[1, 2]>}, plain_op = "mlc.conv"} : (tensor<?x2x?x5x4xf32, #mlc.dims<[N, 2, H + 2, 5, 4]>>, tensor<2x3x3x4xf32>) -> (tensor<?x2x?x2x4xf32, #mlc.dims<[N, 2, H, 2, 4]>>)
  return %r0 : tensor<?x2x?x2x4xf32, #mlc.dims<[N, 2, H, 2, 4]>>
}

func.func @max_pool(%a: tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>) {
  %r0 = mlc.max_pool %a {kernel = #mlc.dims<[3, 2]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>)
  return %r0 : tensor<1x2x3x4xf32>
}

func.func @avg_pool(%a: tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>) {
  %r0 = mlc.avg_pool %a {kernel = #mlc.dims<[3, 2]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>, count_include_pad = false} : (tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>)
  return %r0 : tensor<1x2x3x4xf32>
}

func.func @max_pool_empty(%a: tensor<0x2x5x4xf32>) -> (tensor<0x2x3x4xf32>) {
  %r0 = mlc.max_pool %a {kernel = #mlc.dims<[3, 2]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (tensor<0x2x5x4xf32>) -> (tensor<0x2x3x4xf32>)
  return %r0 : tensor<0x2x3x4xf32>
}

func.func @avg_pool_empty(%a: tensor<0x2x5x4xf32>) -> (tensor<0x2x3x4xf32>) {
  %r0 = mlc.avg_pool %a {kernel = #mlc.dims<[3, 2]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>, count_include_pad = false} : (tensor<0x2x5x4xf32>) -> (tensor<0x2x3x4xf32>)
  return %r0 : tensor<0x2x3x4xf32>
}

func.func @max_pool_symbolic(%a: tensor<?x2x?x4xf32, #mlc.dims<[N, 2, 2 * H + 1, 4]>>) -> (tensor<?x2x?x4xf32, #mlc.dims<[N, 2, H + 1, 4]>>) {
  %r0 = mlc.max_pool %a {kernel = #mlc.dims<[3, 2]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>} : (tensor<?x2x?x4xf32, #mlc.dims<[N, 2, 2 * H + 1, 4]>>) -> (tensor<?x2x?x4xf32, #mlc.dims<[N, 2, H + 1, 4]>>)
  return %r0 : tensor<?x2x?x4xf32, #mlc.dims<[N, 2, H + 1, 4]>>
}

func.func @avg_pool_symbolic(%a: tensor<?x2x?x4xf32, #mlc.dims<[N, 2, 2 * H + 1, 4]>>) -> (tensor<?x2x?x4xf32, #mlc.dims<[N, 2, H + 1, 4]>>) {
  %r0 = mlc.avg_pool %a {kernel = #mlc.dims<[3, 2]>, strides = #mlc.dims<[2, 1]>, pads = #mlc.dims<[1, 0, 1, 1]>, dilations = #mlc.dims<[1, 1]>, ceil_pads = #mlc.dims<[0, 0]>, count_include_pad = false} : (tensor<?x2x?x4xf32, #mlc.dims<[N, 2, 2 * H + 1, 4]>>) -> (tensor<?x2x?x4xf32, #mlc.dims<[N, 2, H + 1, 4]>>)
  return %r0 : tensor<?x2x?x4xf32, #mlc.dims<[N, 2, H + 1, 4]>>
}

func.func @reduce_sum(%a: tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "sum", axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>)
  return %r0 : tensor<2x1x1xf32>
}

func.func @reduce_prod(%a: tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "prod", axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>)
  return %r0 : tensor<2x1x1xf32>
}

func.func @reduce_max(%a: tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "max", axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>)
  return %r0 : tensor<2x1x1xf32>
}

func.func @reduce_min(%a: tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "min", axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>)
  return %r0 : tensor<2x1x1xf32>
}

func.func @reduce_mean(%a: tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "mean", axes = array<i64: 1, 2>} : (tensor<2x3x4xf32>) -> (tensor<2x1x1xf32>)
  return %r0 : tensor<2x1x1xf32>
}

func.func @softmax(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.softmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @log_softmax(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.log_softmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @batch_norm(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> (tensor<2x3x4xf32>) {
  %r0 = mlc.batch_norm %a, %b, %c, %d, %e {epsilon = #mlc.real<0.001>} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return %r0 : tensor<2x3x4xf32>
}

func.func @layer_norm(%a: tensor<2x3x4xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf32>) -> (tensor<2x3x4xf32>) {
  %r0 = mlc.layer_norm %a, %b, %c {axis = 1 : i64, epsilon = #mlc.real<0.001>} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<2x3x4xf32>)
  return %r0 : tensor<2x3x4xf32>
}

func.func @lrn(%a: tensor<2x4x2xf32>) -> (tensor<2x4x2xf32>) {
  %r0 = mlc.lrn %a {size = #mlc.int<3>, alpha = #mlc.real<0.1>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>} : (tensor<2x4x2xf32>) -> (tensor<2x4x2xf32>)
  return %r0 : tensor<2x4x2xf32>
}

func.func @cumsum(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.cumsum %a {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @arg_max(%a: tensor<2x3xf32>) -> (tensor<2x1xi64>) {
  %r0 = mlc.arg_max %a {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x1xi64>)
  return %r0 : tensor<2x1xi64>
}

func.func @arg_min(%a: tensor<2x3xf32>) -> (tensor<2x1xi64>) {
  %r0 = mlc.arg_min %a {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x1xi64>)
  return %r0 : tensor<2x1xi64>
}

func.func @top_k(%a: tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>) {
  %r0, %r1 = mlc.top_k %a {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return %r0, %r1 : tensor<2x2xf32>, tensor<2x2xi64>
}

func.func @transpose(%a: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>) {
  %r0 = mlc.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>)
  return %r0 : tensor<4x2x3xf32>
}

func.func @broadcast(%a: tensor<2x1x4xf32>) -> (tensor<2x5x4xf32>) {
  %r0 = mlc.broadcast %a {dims = #mlc.dims<[2, 5, 4]>} : (tensor<2x1x4xf32>) -> (tensor<2x5x4xf32>)
  return %r0 : tensor<2x5x4xf32>
}

func.func @reverse(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.reverse %a {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @slice(%a: tensor<2x6xf32>) -> (tensor<2x2xf32>) {
  %r0 = mlc.slice %a {starts = #mlc.dims<[0, 1]>, sizes = #mlc.dims<[2, 2]>, steps = #mlc.dims<[1, 3]>} : (tensor<2x6xf32>) -> (tensor<2x2xf32>)
  return %r0 : tensor<2x2xf32>
}

func.func @concat(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>, %c: tensor<2x3xf32>) -> (tensor<2x6xf32>) {
  %r0 = mlc.concat %a, %b, %c {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> (tensor<2x6xf32>)
  return %r0 : tensor<2x6xf32>
}

func.func @pad(%a: tensor<2x3xf32>) -> (tensor<2x6xf32>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "constant", value = #mlc.real<0.5>} : (tensor<2x3xf32>) -> (tensor<2x6xf32>)
  return %r0 : tensor<2x6xf32>
}

func.func @gather(%a: tensor<2x5xf32>, %b: tensor<2x2xi64>) -> (tensor<2x2x2xf32>) {
  %r0 = mlc.gather %a, %b {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x2xi64>) -> (tensor<2x2x2xf32>)
  return %r0 : tensor<2x2x2xf32>
}

func.func @fill() -> (tensor<2x3xf32>) {
  %r0 = mlc.fill {dims = #mlc.dims<[2, 3]>, value = #mlc.real<0.5>, type = f32} : () -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @iota() -> (tensor<2x3xi64>) {
  %r0 = mlc.iota {dims = #mlc.dims<[2, 3]>, axis = 1 : i64, start = #mlc.int<2>, step = #mlc.int<3>} : () -> (tensor<2x3xi64>)
  return %r0 : tensor<2x3xi64>
}

func.func @reduce_sum_empty(%a: tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "sum", axes = array<i64: 1, 2>} : (tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>)
  return %r0 : tensor<0x1x1xf32>
}

func.func @reduce_prod_empty(%a: tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "prod", axes = array<i64: 1, 2>} : (tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>)
  return %r0 : tensor<0x1x1xf32>
}

func.func @reduce_max_empty(%a: tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "max", axes = array<i64: 1, 2>} : (tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>)
  return %r0 : tensor<0x1x1xf32>
}

func.func @reduce_min_empty(%a: tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "min", axes = array<i64: 1, 2>} : (tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>)
  return %r0 : tensor<0x1x1xf32>
}

func.func @reduce_mean_empty(%a: tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>) {
  %r0 = mlc.reduce %a {kind = "mean", axes = array<i64: 1, 2>} : (tensor<0x3x4xf32>) -> (tensor<0x1x1xf32>)
  return %r0 : tensor<0x1x1xf32>
}

func.func @softmax_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.softmax %a {axis = 1 : i64} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @log_softmax_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.log_softmax %a {axis = 1 : i64} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @batch_norm_empty(%a: tensor<0x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> (tensor<0x3x4xf32>) {
  %r0 = mlc.batch_norm %a, %b, %c, %d, %e {epsilon = #mlc.real<0.001>} : (tensor<0x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<0x3x4xf32>)
  return %r0 : tensor<0x3x4xf32>
}

func.func @layer_norm_empty(%a: tensor<0x3x4xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf32>) -> (tensor<0x3x4xf32>) {
  %r0 = mlc.layer_norm %a, %b, %c {axis = 1 : i64, epsilon = #mlc.real<0.001>} : (tensor<0x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<0x3x4xf32>)
  return %r0 : tensor<0x3x4xf32>
}

func.func @lrn_empty(%a: tensor<0x4x2xf32>) -> (tensor<0x4x2xf32>) {
  %r0 = mlc.lrn %a {size = #mlc.int<3>, alpha = #mlc.real<0.1>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>} : (tensor<0x4x2xf32>) -> (tensor<0x4x2xf32>)
  return %r0 : tensor<0x4x2xf32>
}

func.func @cumsum_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.cumsum %a {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @arg_max_empty(%a: tensor<0x3xf32>) -> (tensor<0x1xi64>) {
  %r0 = mlc.arg_max %a {axis = 1 : i64} : (tensor<0x3xf32>) -> (tensor<0x1xi64>)
  return %r0 : tensor<0x1xi64>
}

func.func @arg_min_empty(%a: tensor<0x3xf32>) -> (tensor<0x1xi64>) {
  %r0 = mlc.arg_min %a {axis = 1 : i64} : (tensor<0x3xf32>) -> (tensor<0x1xi64>)
  return %r0 : tensor<0x1xi64>
}

func.func @top_k_empty(%a: tensor<0x5xf32>) -> (tensor<0x2xf32>, tensor<0x2xi64>) {
  %r0, %r1 = mlc.top_k %a {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<0x5xf32>) -> (tensor<0x2xf32>, tensor<0x2xi64>)
  return %r0, %r1 : tensor<0x2xf32>, tensor<0x2xi64>
}

func.func @transpose_empty(%a: tensor<0x3x4xf32>) -> (tensor<4x0x3xf32>) {
  %r0 = mlc.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<0x3x4xf32>) -> (tensor<4x0x3xf32>)
  return %r0 : tensor<4x0x3xf32>
}

func.func @broadcast_empty(%a: tensor<0x1x4xf32>) -> (tensor<0x5x4xf32>) {
  %r0 = mlc.broadcast %a {dims = #mlc.dims<[0, 5, 4]>} : (tensor<0x1x4xf32>) -> (tensor<0x5x4xf32>)
  return %r0 : tensor<0x5x4xf32>
}

func.func @reverse_empty(%a: tensor<0x3xf32>) -> (tensor<0x3xf32>) {
  %r0 = mlc.reverse %a {axes = array<i64: 0, 1>} : (tensor<0x3xf32>) -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @slice_empty(%a: tensor<0x6xf32>) -> (tensor<0x2xf32>) {
  %r0 = mlc.slice %a {starts = #mlc.dims<[0, 1]>, sizes = #mlc.dims<[0, 2]>, steps = #mlc.dims<[1, 3]>} : (tensor<0x6xf32>) -> (tensor<0x2xf32>)
  return %r0 : tensor<0x2xf32>
}

func.func @concat_empty(%a: tensor<0x2xf32>, %b: tensor<0x1xf32>, %c: tensor<0x3xf32>) -> (tensor<0x6xf32>) {
  %r0 = mlc.concat %a, %b, %c {axis = 1 : i64} : (tensor<0x2xf32>, tensor<0x1xf32>, tensor<0x3xf32>) -> (tensor<0x6xf32>)
  return %r0 : tensor<0x6xf32>
}

func.func @pad_empty(%a: tensor<0x3xf32>) -> (tensor<0x6xf32>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "constant", value = #mlc.real<0.5>} : (tensor<0x3xf32>) -> (tensor<0x6xf32>)
  return %r0 : tensor<0x6xf32>
}

func.func @gather_empty(%a: tensor<0x5xf32>, %b: tensor<2x2xi64>) -> (tensor<0x2x2xf32>) {
  %r0 = mlc.gather %a, %b {axis = 1 : i64} : (tensor<0x5xf32>, tensor<2x2xi64>) -> (tensor<0x2x2xf32>)
  return %r0 : tensor<0x2x2xf32>
}

func.func @fill_empty() -> (tensor<0x3xf32>) {
  %r0 = mlc.fill {dims = #mlc.dims<[0, 3]>, value = #mlc.real<0.5>, type = f32} : () -> (tensor<0x3xf32>)
  return %r0 : tensor<0x3xf32>
}

func.func @iota_empty() -> (tensor<0x3xi64>) {
  %r0 = mlc.iota {dims = #mlc.dims<[0, 3]>, axis = 1 : i64, start = #mlc.int<2>, step = #mlc.int<3>} : () -> (tensor<0x3xi64>)
  return %r0 : tensor<0x3xi64>
}

func.func @reduce_sum_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>) {
  %r0 = mlc.reduce %a {kind = "sum", axes = array<i64: 1, 2>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>)
  return %r0 : tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>
}

func.func @reduce_prod_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>) {
  %r0 = mlc.reduce %a {kind = "prod", axes = array<i64: 1, 2>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>)
  return %r0 : tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>
}

func.func @reduce_max_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>) {
  %r0 = mlc.reduce %a {kind = "max", axes = array<i64: 1, 2>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>)
  return %r0 : tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>
}

func.func @reduce_min_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>) {
  %r0 = mlc.reduce %a {kind = "min", axes = array<i64: 1, 2>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>)
  return %r0 : tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>
}

func.func @reduce_mean_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>) {
  %r0 = mlc.reduce %a {kind = "mean", axes = array<i64: 1, 2>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>)
  return %r0 : tensor<?x1x1xf32, #mlc.dims<[N, 1, 1]>>
}

func.func @softmax_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.softmax %a {axis = 1 : i64} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @log_softmax_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.log_softmax %a {axis = 1 : i64} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @batch_norm_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) {
  %r0 = mlc.batch_norm %a, %b, %c, %d, %e {epsilon = #mlc.real<0.001>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>)
  return %r0 : tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>
}

func.func @layer_norm_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>, %b: tensor<3x4xf32>, %c: tensor<3x4xf32>) -> (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) {
  %r0 = mlc.layer_norm %a, %b, %c {axis = 1 : i64, epsilon = #mlc.real<0.001>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>)
  return %r0 : tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>
}

func.func @lrn_symbolic(%a: tensor<?x4x2xf32, #mlc.dims<[N, 4, 2]>>) -> (tensor<?x4x2xf32, #mlc.dims<[N, 4, 2]>>) {
  %r0 = mlc.lrn %a {size = #mlc.int<3>, alpha = #mlc.real<0.1>, beta = #mlc.real<0.75>, bias = #mlc.real<1.0>} : (tensor<?x4x2xf32, #mlc.dims<[N, 4, 2]>>) -> (tensor<?x4x2xf32, #mlc.dims<[N, 4, 2]>>)
  return %r0 : tensor<?x4x2xf32, #mlc.dims<[N, 4, 2]>>
}

func.func @cumsum_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.cumsum %a {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @arg_max_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x1xi64, #mlc.dims<[N, 1]>>) {
  %r0 = mlc.arg_max %a {axis = 1 : i64} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x1xi64, #mlc.dims<[N, 1]>>)
  return %r0 : tensor<?x1xi64, #mlc.dims<[N, 1]>>
}

func.func @arg_min_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x1xi64, #mlc.dims<[N, 1]>>) {
  %r0 = mlc.arg_min %a {axis = 1 : i64} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x1xi64, #mlc.dims<[N, 1]>>)
  return %r0 : tensor<?x1xi64, #mlc.dims<[N, 1]>>
}

func.func @top_k_symbolic(%a: tensor<?x5xf32, #mlc.dims<[N, 5]>>) -> (tensor<?x2xf32, #mlc.dims<[N, 2]>>, tensor<?x2xi64, #mlc.dims<[N, 2]>>) {
  %r0, %r1 = mlc.top_k %a {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<?x5xf32, #mlc.dims<[N, 5]>>) -> (tensor<?x2xf32, #mlc.dims<[N, 2]>>, tensor<?x2xi64, #mlc.dims<[N, 2]>>)
  return %r0, %r1 : tensor<?x2xf32, #mlc.dims<[N, 2]>>, tensor<?x2xi64, #mlc.dims<[N, 2]>>
}

func.func @transpose_symbolic(%a: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<4x?x3xf32, #mlc.dims<[4, N, 3]>>) {
  %r0 = mlc.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<4x?x3xf32, #mlc.dims<[4, N, 3]>>)
  return %r0 : tensor<4x?x3xf32, #mlc.dims<[4, N, 3]>>
}

func.func @broadcast_symbolic(%a: tensor<?x1x4xf32, #mlc.dims<[N, 1, 4]>>) -> (tensor<?x5x4xf32, #mlc.dims<[N, 5, 4]>>) {
  %r0 = mlc.broadcast %a {dims = #mlc.dims<[N, 5, 4]>} : (tensor<?x1x4xf32, #mlc.dims<[N, 1, 4]>>) -> (tensor<?x5x4xf32, #mlc.dims<[N, 5, 4]>>)
  return %r0 : tensor<?x5x4xf32, #mlc.dims<[N, 5, 4]>>
}

func.func @reverse_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.reverse %a {axes = array<i64: 0, 1>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @slice_symbolic(%a: tensor<?x6xf32, #mlc.dims<[N, 6]>>) -> (tensor<?x2xf32, #mlc.dims<[N, 2]>>) {
  %r0 = mlc.slice %a {starts = #mlc.dims<[0, 1]>, sizes = #mlc.dims<[N, 2]>, steps = #mlc.dims<[1, 3]>} : (tensor<?x6xf32, #mlc.dims<[N, 6]>>) -> (tensor<?x2xf32, #mlc.dims<[N, 2]>>)
  return %r0 : tensor<?x2xf32, #mlc.dims<[N, 2]>>
}

func.func @concat_symbolic(%a: tensor<?x2xf32, #mlc.dims<[N, 2]>>, %b: tensor<?x1xf32, #mlc.dims<[N, 1]>>, %c: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>) {
  %r0 = mlc.concat %a, %b, %c {axis = 1 : i64} : (tensor<?x2xf32, #mlc.dims<[N, 2]>>, tensor<?x1xf32, #mlc.dims<[N, 1]>>, tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>)
  return %r0 : tensor<?x6xf32, #mlc.dims<[N, 6]>>
}

func.func @pad_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "constant", value = #mlc.real<0.5>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>)
  return %r0 : tensor<?x6xf32, #mlc.dims<[N, 6]>>
}

func.func @gather_symbolic(%a: tensor<?x5xf32, #mlc.dims<[N, 5]>>, %b: tensor<2x2xi64>) -> (tensor<?x2x2xf32, #mlc.dims<[N, 2, 2]>>) {
  %r0 = mlc.gather %a, %b {axis = 1 : i64} : (tensor<?x5xf32, #mlc.dims<[N, 5]>>, tensor<2x2xi64>) -> (tensor<?x2x2xf32, #mlc.dims<[N, 2, 2]>>)
  return %r0 : tensor<?x2x2xf32, #mlc.dims<[N, 2, 2]>>
}

func.func @fill_symbolic() -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.fill {dims = #mlc.dims<[N, 3]>, value = #mlc.real<0.5>, type = f32} : () -> (tensor<?x3xf32, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf32, #mlc.dims<[N, 3]>>
}

func.func @iota_symbolic() -> (tensor<?x3xi64, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.iota {dims = #mlc.dims<[N, 3]>, axis = 1 : i64, start = #mlc.int<2>, step = #mlc.int<3>} : () -> (tensor<?x3xi64, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xi64, #mlc.dims<[N, 3]>>
}

func.func @reshape(%a: tensor<2x3xf32>) -> (tensor<6xf32>) {
  %r0 = mlc.reshape %a {dims = #mlc.dims<[6]>} : (tensor<2x3xf32>) -> (tensor<6xf32>)
  return %r0 : tensor<6xf32>
}

func.func @reshape_empty(%a: tensor<0x3xf32>) -> (tensor<0xf32>) {
  %r0 = mlc.reshape %a {dims = #mlc.dims<[0]>} : (tensor<0x3xf32>) -> (tensor<0xf32>)
  return %r0 : tensor<0xf32>
}

func.func @reshape_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?xf32, #mlc.dims<[3 * N]>>) {
  %r0 = mlc.reshape %a {dims = #mlc.dims<[3 * N]>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?xf32, #mlc.dims<[3 * N]>>)
  return %r0 : tensor<?xf32, #mlc.dims<[3 * N]>>
}

func.func @pad_edge(%a: tensor<2x3xf32>) -> (tensor<2x6xf32>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "edge", value = #mlc.real<0.0>} : (tensor<2x3xf32>) -> (tensor<2x6xf32>)
  return %r0 : tensor<2x6xf32>
}

func.func @pad_edge_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "edge", value = #mlc.real<0.0>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>)
  return %r0 : tensor<?x6xf32, #mlc.dims<[N, 6]>>
}

func.func @pad_reflect(%a: tensor<2x3xf32>) -> (tensor<2x6xf32>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "reflect", value = #mlc.real<0.0>} : (tensor<2x3xf32>) -> (tensor<2x6xf32>)
  return %r0 : tensor<2x6xf32>
}

func.func @pad_reflect_symbolic(%a: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>) {
  %r0 = mlc.pad %a {low = #mlc.dims<[0, 1]>, high = #mlc.dims<[0, 2]>, mode = "reflect", value = #mlc.real<0.0>} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x6xf32, #mlc.dims<[N, 6]>>)
  return %r0 : tensor<?x6xf32, #mlc.dims<[N, 6]>>
}

func.func @resize_nearest(%a: tensor<1x2x3xf32>) -> (tensor<1x2x6xf32>) {
  %r0 = mlc.resize %a {dims = #mlc.dims<[1, 2, 6]>, mode = "nearest", transform = "half_pixel", nearest_mode = "round_prefer_floor", scales = []} : (tensor<1x2x3xf32>) -> (tensor<1x2x6xf32>)
  return %r0 : tensor<1x2x6xf32>
}

func.func @resize_nearest_symbolic(%a: tensor<1x2x?xf32, #mlc.dims<[1, 2, H + 1]>>) -> (tensor<1x2x?xf32, #mlc.dims<[1, 2, 2 * H + 2]>>) {
  %r0 = mlc.resize %a {dims = #mlc.dims<[1, 2, 2 * H + 2]>, mode = "nearest", transform = "half_pixel", nearest_mode = "round_prefer_floor", scales = []} : (tensor<1x2x?xf32, #mlc.dims<[1, 2, H + 1]>>) -> (tensor<1x2x?xf32, #mlc.dims<[1, 2, 2 * H + 2]>>)
  return %r0 : tensor<1x2x?xf32, #mlc.dims<[1, 2, 2 * H + 2]>>
}

func.func @resize_linear(%a: tensor<1x2x3xf32>) -> (tensor<1x2x6xf32>) {
  %r0 = mlc.resize %a {dims = #mlc.dims<[1, 2, 6]>, mode = "linear", transform = "half_pixel", nearest_mode = "round_prefer_floor", scales = []} : (tensor<1x2x3xf32>) -> (tensor<1x2x6xf32>)
  return %r0 : tensor<1x2x6xf32>
}

func.func @resize_linear_symbolic(%a: tensor<1x2x?xf32, #mlc.dims<[1, 2, H + 1]>>) -> (tensor<1x2x?xf32, #mlc.dims<[1, 2, 2 * H + 2]>>) {
  %r0 = mlc.resize %a {dims = #mlc.dims<[1, 2, 2 * H + 2]>, mode = "linear", transform = "half_pixel", nearest_mode = "round_prefer_floor", scales = []} : (tensor<1x2x?xf32, #mlc.dims<[1, 2, H + 1]>>) -> (tensor<1x2x?xf32, #mlc.dims<[1, 2, 2 * H + 2]>>)
  return %r0 : tensor<1x2x?xf32, #mlc.dims<[1, 2, 2 * H + 2]>>
}

func.func @int_tensor() -> (tensor<2xi64>) {
  %r0 = mlc.int_tensor {values = #mlc.dims<[3, 4]>, dims = #mlc.dims<[2]>} : () -> (tensor<2xi64>)
  return %r0 : tensor<2xi64>
}

func.func @int_tensor_empty() -> (tensor<0xi64>) {
  %r0 = mlc.int_tensor {values = #mlc.dims<[]>, dims = #mlc.dims<[0]>} : () -> (tensor<0xi64>)
  return %r0 : tensor<0xi64>
}

func.func @int_tensor_symbolic() -> (tensor<2xi64>) {
  %r0 = mlc.int_tensor {values = #mlc.dims<[N, 2 * N]>, dims = #mlc.dims<[2]>} : () -> (tensor<2xi64>)
  return %r0 : tensor<2xi64>
}

func.func @constant() -> (tensor<2xf32>) {
  %r0 = mlc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %r0 : tensor<2xf32>
}

func.func @constant_empty() -> (tensor<0x2xf32>) {
  %r0 = mlc.constant dense<> : tensor<0x2xf32>
  return %r0 : tensor<0x2xf32>
}

func.func @pack(%a: tensor<2x6x3xf32>) -> (tensor<2x2x3x4xf32>) {
  %r0 = mlc.pack %a {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 6>} : (tensor<2x6x3xf32>) -> (tensor<2x2x3x4xf32>)
  return %r0 : tensor<2x2x3x4xf32>
}

func.func @unpack(%a: tensor<2x2x3x4xf32>) -> (tensor<2x6x3xf32>) {
  %r0 = mlc.unpack %a {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 6>} : (tensor<2x2x3x4xf32>) -> (tensor<2x6x3xf32>)
  return %r0 : tensor<2x6x3xf32>
}

func.func @pack_empty(%a: tensor<0x6x3xf32>) -> (tensor<0x2x3x4xf32>) {
  %r0 = mlc.pack %a {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 6>} : (tensor<0x6x3xf32>) -> (tensor<0x2x3x4xf32>)
  return %r0 : tensor<0x2x3x4xf32>
}

func.func @unpack_empty(%a: tensor<0x2x3x4xf32>) -> (tensor<0x6x3xf32>) {
  %r0 = mlc.unpack %a {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 6>} : (tensor<0x2x3x4xf32>) -> (tensor<0x6x3xf32>)
  return %r0 : tensor<0x6x3xf32>
}

func.func @pack_symbolic(%a: tensor<?x6x3xf32, #mlc.dims<[N, 6, 3]>>) -> (tensor<?x2x3x4xf32, #mlc.dims<[N, 2, 3, 4]>>) {
  %r0 = mlc.pack %a {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 6>} : (tensor<?x6x3xf32, #mlc.dims<[N, 6, 3]>>) -> (tensor<?x2x3x4xf32, #mlc.dims<[N, 2, 3, 4]>>)
  return %r0 : tensor<?x2x3x4xf32, #mlc.dims<[N, 2, 3, 4]>>
}

func.func @unpack_symbolic(%a: tensor<?x2x3x4xf32, #mlc.dims<[N, 2, 3, 4]>>) -> (tensor<?x6x3xf32, #mlc.dims<[N, 6, 3]>>) {
  %r0 = mlc.unpack %a {layout = #mlc.layout<[a, b div 4, c, b mod 4], b = 6>} : (tensor<?x2x3x4xf32, #mlc.dims<[N, 2, 3, 4]>>) -> (tensor<?x6x3xf32, #mlc.dims<[N, 6, 3]>>)
  return %r0 : tensor<?x6x3xf32, #mlc.dims<[N, 6, 3]>>
}

func.func @compute(%w: tensor<2x3xf32>, %s: tensor<2xf32>) -> (tensor<2x3xf32>) {
  %r0 = mlc.compute %w, %s {definition = "(w, s; ; eps) Y[o, c] = w[o, c] / sqrt(s[o] + eps)", dims = #mlc.dims<[2, 3]>, integers = #mlc.dims<[]>, reals = [#mlc.real<1.0e-03>], type = f32} : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @compute_empty(%w: tensor<0x3xf32>) -> (tensor<0xf32>) {
  %r0 = mlc.compute %w {definition = "(w; k) Y[o] = sum{c < k}(w[o, c])", dims = #mlc.dims<[0]>, integers = #mlc.dims<[3]>, reals = [], type = f32} : (tensor<0x3xf32>) -> (tensor<0xf32>)
  return %r0 : tensor<0xf32>
}

func.func @compute_symbolic(%w: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x5xf32, #mlc.dims<[2 * N, 5]>>) {
  %r0 = mlc.compute %w {definition = "(w; n) T[o < n] = max{c < 3}(w[o, c]); Y[o, c] = w<0>[o - n, c - 1] + T<0>[o]", dims = #mlc.dims<[2 * N, 5]>, integers = #mlc.dims<[N]>, reals = [], type = f32} : (tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> (tensor<?x5xf32, #mlc.dims<[2 * N, 5]>>)
  return %r0 : tensor<?x5xf32, #mlc.dims<[2 * N, 5]>>
}

func.func @scatter_add(%a: tensor<2x5xf32>, %b: tensor<2x2xi64>, %c: tensor<2x2x2xf32>) -> (tensor<2x5xf32>) {
  %r0 = mlc.scatter_add %a, %b, %c {axis = 1 : i64} : (tensor<2x5xf32>, tensor<2x2xi64>, tensor<2x2x2xf32>) -> (tensor<2x5xf32>)
  return %r0 : tensor<2x5xf32>
}

func.func @scatter_add_scalar(%a: tensor<5x2xf32>, %b: tensor<i32>, %c: tensor<2xf32>) -> (tensor<5x2xf32>) {
  %r0 = mlc.scatter_add %a, %b, %c {axis = 0 : i64} : (tensor<5x2xf32>, tensor<i32>, tensor<2xf32>) -> (tensor<5x2xf32>)
  return %r0 : tensor<5x2xf32>
}

func.func @scatter_add_empty(%a: tensor<0x5xf32>, %b: tensor<2x2xi64>, %c: tensor<0x2x2xf32>) -> (tensor<0x5xf32>) {
  %r0 = mlc.scatter_add %a, %b, %c {axis = 1 : i64} : (tensor<0x5xf32>, tensor<2x2xi64>, tensor<0x2x2xf32>) -> (tensor<0x5xf32>)
  return %r0 : tensor<0x5xf32>
}

func.func @scatter_add_symbolic(%a: tensor<?x5xf32, #mlc.dims<[N, 5]>>, %b: tensor<2xi64>, %c: tensor<?x2xf32, #mlc.dims<[N, 2]>>) -> (tensor<?x5xf32, #mlc.dims<[N, 5]>>) {
  %r0 = mlc.scatter_add %a, %b, %c {axis = 1 : i64} : (tensor<?x5xf32, #mlc.dims<[N, 5]>>, tensor<2xi64>, tensor<?x2xf32, #mlc.dims<[N, 2]>>) -> (tensor<?x5xf32, #mlc.dims<[N, 5]>>)
  return %r0 : tensor<?x5xf32, #mlc.dims<[N, 5]>>
}

func.func @random_uniform(%a: tensor<ui64>) -> (tensor<2x3xf32>) {
  %r0 = mlc.random_uniform %a {dims = #mlc.dims<[2, 3]>, seed = 7 : i64, type = f32} : (tensor<ui64>) -> (tensor<2x3xf32>)
  return %r0 : tensor<2x3xf32>
}

func.func @random_uniform_empty(%a: tensor<ui64>) -> (tensor<0x3xf16>) {
  %r0 = mlc.random_uniform %a {dims = #mlc.dims<[0, 3]>, seed = 7 : i64, type = f16} : (tensor<ui64>) -> (tensor<0x3xf16>)
  return %r0 : tensor<0x3xf16>
}

func.func @random_uniform_symbolic(%a: tensor<ui64>) -> (tensor<?x3xf64, #mlc.dims<[N, 3]>>) {
  %r0 = mlc.random_uniform %a {dims = #mlc.dims<[N, 3]>, seed = -1 : i64, type = f64} : (tensor<ui64>) -> (tensor<?x3xf64, #mlc.dims<[N, 3]>>)
  return %r0 : tensor<?x3xf64, #mlc.dims<[N, 3]>>
}
