// What depends on constants alone is computed; what repeats elements is kept.
// RUN: mlc-opt --pass-pipeline='builtin.module(func.func(mlc-fold-constants))' %s | FileCheck %s

// Weights are scaled although the broadcast on the way is larger than they are;
// the bias stays small, its broadcast in place.
// CHECK-LABEL: func.func @scaled_weights
// CHECK-NEXT: %[[W:.+]] = mlc.constant dense<{{\[\[\[\[}}3.000000e+00]], {{\[\[}}3.000000e+00]]], {{\[\[\[}}6.000000e+00]], {{\[\[}}6.000000e+00]]]]> : tensor<2x2x1x1xf32>
// CHECK-NEXT: mlc.conv %arg0, %[[W]]
// CHECK-NEXT: %[[B:.+]] = mlc.constant dense<{{.*}}> : tensor<1x2x1x1xf32>
// CHECK-NEXT: mlc.broadcast %[[B]] {dims = #mlc.dims<[1, 2, 5, 5]>}
// CHECK-NEXT: mlc.add
func.func @scaled_weights(%x: tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %w = mlc.constant dense<3.0> : tensor<2x2x1x1xf32>
  %v = mlc.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %s = mlc.reshape %v {dims = #mlc.dims<[2, 1, 1, 1]>} : (tensor<2x1xf32>) -> tensor<2x1x1x1xf32>
  %sb = mlc.broadcast %s {dims = #mlc.dims<[2, 2, 1, 1]>} : (tensor<2x1x1x1xf32>) -> tensor<2x2x1x1xf32>
  %m = mlc.mul %w, %sb : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x1x1xf32>
  %c = mlc.conv %x, %m {strides = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, groups = #mlc.int<1>} : (tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x5xf32>
  %b = mlc.reshape %v {dims = #mlc.dims<[1, 2, 1, 1]>} : (tensor<2x1xf32>) -> tensor<1x2x1x1xf32>
  %bb = mlc.broadcast %b {dims = #mlc.dims<[1, 2, 5, 5]>} : (tensor<1x2x1x1xf32>) -> tensor<1x2x5x5xf32>
  %y = mlc.add %c, %bb : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %y : tensor<1x2x5x5xf32>
}

// Splats stay splats, even through a product; dead operators go; large results
// become resources.
// CHECK-LABEL: func.func @splats
// CHECK-NEXT: %[[A:.+]] = mlc.constant dense<9.3890562> : tensor<64x64xf32>
// CHECK-NEXT: %[[P:.+]] = mlc.constant dense<1201.79944> : tensor<64x64xf32>
// CHECK-NEXT: %[[R:.+]] = mlc.constant dense_resource<{{.+}}> : tensor<320xi64>
// CHECK-NEXT: return %[[A]], %[[P]], %[[R]]
func.func @splats(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<320xi64>) {
  %w = mlc.constant dense<2.0> : tensor<64x64xf32>
  %e = mlc.exp %w : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = mlc.add %e, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = mlc.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %i = mlc.iota {dims = #mlc.dims<[320]>, axis = 0 : i64, start = #mlc.int<0>, step = #mlc.int<1>} : () -> tensor<320xi64>
  %dead = mlc.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a, %p, %i : tensor<64x64xf32>, tensor<64x64xf32>, tensor<320xi64>
}

// Large tensors are not made from nothing, and what is undefined stays.
// CHECK-LABEL: func.func @kept
// CHECK-DAG: mlc.iota
// CHECK-DAG: mlc.div
func.func @kept() -> (tensor<100000xi64>, tensor<2xi64>) {
  %i = mlc.iota {dims = #mlc.dims<[100000]>, axis = 0 : i64, start = #mlc.int<0>, step = #mlc.int<1>} : () -> tensor<100000xi64>
  %a = mlc.constant dense<[1, 2]> : tensor<2xi64>
  %z = mlc.constant dense<0> : tensor<2xi64>
  %d = mlc.div %a, %z : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %i, %d : tensor<100000xi64>, tensor<2xi64>
}

// Shapes fold symbolically.
// CHECK-LABEL: func.func @shape
// CHECK-NEXT: mlc.int_tensor {dims = #mlc.dims<[2]>, values = #mlc.dims<[2 * N, 3]>}
// CHECK-NEXT: return
func.func @shape(%x: tensor<?x3xf32, #mlc.dims<[N, 3]>>) -> tensor<2xi64> {
  %s = mlc.int_tensor {values = #mlc.dims<[N, 3]>, dims = #mlc.dims<[2]>} : () -> tensor<2xi64>
  %two = mlc.constant dense<2> : tensor<2xi64>
  %m = mlc.mul %s, %two : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %a = mlc.slice %m {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[1]>, steps = #mlc.dims<[1]>} : (tensor<2xi64>) -> tensor<1xi64>
  %b = mlc.slice %s {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[1]>, steps = #mlc.dims<[1]>} : (tensor<2xi64>) -> tensor<1xi64>
  %c = mlc.concat %a, %b {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  return %c : tensor<2xi64>
}
