// Gradients that are none, or of functions that have none, in ways that a sum of products need not show.

!n = tensor<?xf32, #mlc.dims<[n]>>
!m = tensor<?xf32, #mlc.dims<[n + 1]>>
func.func @exp(%x: !n) -> !n {
  %0 = mlc.exp %x : (!n) -> !n
  return %0 : !n
}
func.func @longer(%x: !n, %dy: !n) -> !m {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy<0>[i] * exp(x<0>[i])", dims = #mlc.dims<[n + 1]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !m
  return %0 : !m
}
func.func @divides(%x: !n, %dy: !n) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[i] * exp(x[i]) + 0 / x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, !n) -> !n
  return %0 : !n
}
func.func @of_other_names(%x: tensor<?xf32, #mlc.dims<[k]>>, %dy: tensor<?xf32, #mlc.dims<[l]>>) -> tensor<?xf32, #mlc.dims<[k]>> {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy<0>[i] * exp(x[i])", dims = #mlc.dims<[k]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[k]>>, tensor<?xf32, #mlc.dims<[l]>>) -> tensor<?xf32, #mlc.dims<[k]>>
  return %0 : tensor<?xf32, #mlc.dims<[k]>>
}
func.func @of_other_sizes(%x: !n, %dy: tensor<4xf32>) -> tensor<4xf32> {
  return %dy : tensor<4xf32>
}
func.func @best(%x: tensor<2x5xf32>) -> tensor<2x2xf32> {
  %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return %v : tensor<2x2xf32>
}
func.func @best_gradient(%x: tensor<2x5xf32>, %dy: tensor<2x2xf32>) -> tensor<2x5xf32> {
  return %x : tensor<2x5xf32>
}
func.func @sum(%x: !n) -> tensor<f32> {
  %0 = mlc.compute %x {definition = "(x; n) Y[] = sum{i < n}(x[i] * x[i])", dims = #mlc.dims<[]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!n) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @sum_gradient(%x: !n, %dy: tensor<f32>) -> !n {
  %0 = mlc.compute %x, %dy {definition = "(x, dy) Y[i] = dy[] * 2 * x[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!n, tensor<f32>) -> !n
  return %0 : !n
}
#id = affine_map<(d0) -> (d0)>
func.func @loops(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @loops_gradient(%x: tensor<?xf32>, %dy: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %dy : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %d: f32, %b: f32):
    %s = arith.mulf %a, %d : f32
    %t = arith.addf %s, %s : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @constants(%x: !n) -> tensor<2xi64> {
  %0 = mlc.constant dense<[1, 2]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @constants_gradient(%x: !n) -> !n {
  return %x : !n
}
func.func @number(%x: f32) -> tensor<2xf32> {
  %0 = mlc.constant dense<1.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @number_gradient(%x: f32, %dy: tensor<2xf32>) {
  return
}
func.func private @outside(%x: !n) -> !n
