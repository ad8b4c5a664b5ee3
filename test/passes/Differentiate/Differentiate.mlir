// RUN: mlc-opt %s --mlc-differentiate=function=layer | FileCheck %s
// RUN: mlc-opt %s --mlc-differentiate=function=strided | FileCheck %s --check-prefix=STRIDED
// RUN: mlc-opt %s --mlc-differentiate=function=padded | FileCheck %s --check-prefix=PADDED
// RUN: mlc-opt %s --mlc-differentiate=function=padded -o %t.padded.mlir
// RUN: mlc-verify %t.padded.mlir --gradient-of=padded --gradient=padded_gradient | FileCheck %s --check-prefix=PROVED
// PROVED: proved
// RUN: mlc-opt %s --mlc-differentiate=function=dense | FileCheck %s --check-prefix=DENSE
// RUN: mlc-opt %s --mlc-differentiate=function=probabilities | FileCheck %s --check-prefix=SOFTMAX
// RUN: mlc-opt %s --mlc-differentiate=function=best | FileCheck %s --check-prefix=BEST
// RUN: mlc-opt %s --mlc-differentiate=function=logarithm | FileCheck %s --check-prefix=LOG
// RUN: not mlc-opt %s --mlc-differentiate=function=missing 2>&1 | FileCheck %s --check-prefix=MISSING

// The gradients of a matrix product are matrix products.
// CHECK-LABEL: func.func @layer_gradient(
// CHECK-SAME: %[[A:.*]]: tensor<{{.*}}[m, k]>>, %[[B:.*]]: tensor<{{.*}}[k, n]>>, %[[DY:.*]]: tensor<{{.*}}[m, n]>>)
// CHECK: %[[Y:.*]] = mlc.matmul %[[A]], %[[B]]
// CHECK: %[[D:.*]] = mlc.compute %[[Y]], %[[DY]] {definition = "(x0, x1) Y[i, j] = select(x0[i, j] > 0, x1[i, j], 0)"
// CHECK: %[[BT:.*]] = mlc.transpose %[[B]]
// CHECK: %[[DA:.*]] = mlc.matmul %[[D]], %[[BT]]
// CHECK: %[[AT:.*]] = mlc.transpose %[[A]]
// CHECK: %[[DB:.*]] = mlc.matmul %[[AT]], %[[D]]
// CHECK: return %[[DA]], %[[DB]]
func.func @layer(%a: tensor<?x?xf32, #mlc.dims<[m, k]>>, %b: tensor<?x?xf32, #mlc.dims<[k, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>> {
  %0 = mlc.matmul %a, %b : (tensor<?x?xf32, #mlc.dims<[m, k]>>, tensor<?x?xf32, #mlc.dims<[k, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>>
  %1 = mlc.relu %0 : (tensor<?x?xf32, #mlc.dims<[m, n]>>) -> tensor<?x?xf32, #mlc.dims<[m, n]>>
  return %1 : tensor<?x?xf32, #mlc.dims<[m, n]>>
}

// Where rows behind the last window are padding, they are left out, and the
// stride is the dilation of the weight's gradient.
// PADDED-LABEL: func.func @padded_gradient(
// PADDED: mlc.conv {{.*}}dilations = #mlc.dims<[2]>{{.*}}pads = #mlc.dims<[1, 0]>{{.*}}strides = #mlc.dims<[1]>{{.*}} -> tensor<2x3x3xf32>
// PADDED-NOT: mlc.slice {{.*}} -> tensor<2x3x3xf32>
func.func @padded(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x8xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// Those of a convolution with a stride are of its phases, put together.
// STRIDED-LABEL: func.func @strided_gradient(
// STRIDED: %[[EVEN:.*]] = mlc.conv_transpose {{.*}} strides = #mlc.dims<[1]>{{.*}} -> tensor<1x2x4xf32>
// STRIDED: %[[ODD:.*]] = mlc.conv_transpose {{.*}} strides = #mlc.dims<[1]>{{.*}} -> tensor<1x2x3xf32>
// STRIDED: mlc.compute %[[ODD]], %[[EVEN]] {definition = "(x0, x1) Y[i, j, u] = select(mod(u, 2) == 1, x0<0>[i, j, floordiv(u, 2)], select(mod(u, 2) == 0, x1<0>[i, j, floordiv(u, 2)], 0))"
// STRIDED: mlc.conv {{.*}} -> tensor<2x3x2xf32>
// STRIDED: mlc.conv {{.*}} -> tensor<2x3x1xf32>
func.func @strided(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x3xf32> {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<1x2x8xf32>, tensor<3x2x3xf32>) -> tensor<1x3x3xf32>
  return %0 : tensor<1x3x3xf32>
}

// The maximum that softmax subtracts cancels.
// SOFTMAX-LABEL: func.func @probabilities_gradient(
// SOFTMAX: %[[Y:.*]] = mlc.softmax
// SOFTMAX-NOT: max
// SOFTMAX: mlc.compute %{{.*}}, %{{.*}}, %[[Y]] {definition = "(x0, x1, x2) Y[i, j] = select(x0[i, j] - x1[i, 0] == 0, 0, (x0[i, j] - x1[i, 0]) * x2[i, j])"
func.func @probabilities(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = mlc.softmax %x {axis = 1 : i64} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// Those of another are a transposed convolution and a convolution.
// DENSE-LABEL: func.func @dense_gradient(
// DENSE: mlc.conv_transpose
// DENSE-SAME: -> tensor<1x2x8xf32>
// DENSE: mlc.conv {{.*}} {dilations = #mlc.dims<[1]>{{.*}} strides = #mlc.dims<[2]>}
func.func @dense(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[2]>, groups = #mlc.int<1>} : (tensor<1x2x8xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// What is taken is worth what it is worth in the result.
// BEST-LABEL: func.func @best_gradient(
// BEST: mlc.compute %indices, %{{.*}} {definition = "(x0, x1) Y[i, j] = sum{u < 2}(select(x0[i, u] == i64(j), x1[i, u], 0))"
func.func @best(%x: tensor<2x5xf32>) -> tensor<2x2xf32> {
  %v, %i = mlc.top_k %x {axis = 1 : i64, k = #mlc.int<2>, largest = true, sorted = true} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return %v : tensor<2x2xf32>
}

// Where nothing is worth anything, nobody asks how steep it is.
// LOG-LABEL: func.func @logarithm_gradient(
// LOG: definition = "(x0, x1) Y[i] = select(x0[i] == 0, 0, x0[i] * reciprocal(x1[i]))"
func.func @logarithm(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mlc.log %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// MISSING: error: has no function @missing to differentiate
