// RUN: mlc-opt %s --mlc-partition --split-input-file | FileCheck %s

// An operator that sums over what is split, before it is done, is cut there. In
// between numbers are as exact as in the operator.

// CHECK-LABEL: func.func @softmax
// CHECK: %[[M:.*]] = mlc.compute {{.*}}max{u < 3}(f32(x0[i, u]))
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce %[[M]] {axis = #dist.axis<"model", 4>, reduction = "max"} : (tensor<2x1xf32>)
// CHECK-NEXT: %[[E:.*]] = mlc.compute %{{.*}}, %[[A]] {definition = "(x0, x1) Y[i, j] = exp(f32(x0[i, j]) - x1[i, 0])", dims = #mlc.dims<[2, 3]>
// CHECK-NEXT: %[[S:.*]] = mlc.compute %[[E]] {definition = "(x0) Y[i, j] = sum{u < 3}(x0[i, u])"
// CHECK-NEXT: %[[B:.*]] = dist.all_reduce %[[S]] {axis = #dist.axis<"model", 4>, reduction = "sum"} : (tensor<2x1xf32>)
// CHECK-NEXT: %[[R:.*]] = mlc.compute %[[E]], %[[B]] {definition = "(x0, x1) Y[i, j] = f16(x0[i, j] / x1[i, 0])"
// CHECK-NEXT: return %[[R]] : tensor<2x3xf16>
module attributes {dist.mesh = [#dist.axis<"model", 4>]} {
  func.func @softmax(%x: tensor<2x12xf16> {dist.sharding = #dist.sharding<["", "model"]>}) -> tensor<2x12xf16> {
    %0 = mlc.softmax %x {axis = 1} : (tensor<2x12xf16>) -> tensor<2x12xf16>
    return %0 : tensor<2x12xf16>
  }

  // Where it sums over other dims, it is itself.
  // CHECK-LABEL: func.func @rows
  // CHECK: mlc.softmax %{{.*}} {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: return
  func.func @rows(%x: tensor<12x2xf32> {dist.sharding = #dist.sharding<["model", ""]>}) -> tensor<12x2xf32> {
    %0 = mlc.softmax %x {axis = 1} : (tensor<12x2xf32>) -> tensor<12x2xf32>
    return %0 : tensor<12x2xf32>
  }

  // A sum under a root is a stage of its own; the mean's divisor is the whole's.
  // CHECK-LABEL: func.func @layer_norm
  // CHECK: dist.all_reduce {{.*}} : (tensor<64x1xf32>)
  // CHECK: dist.all_reduce {{.*}} : (tensor<64xf32>)
  // CHECK-NEXT: mlc.compute {{.*}}sqrt(x0[i] / f32(12) + {{.*}})
  // CHECK-NOT: dist
  // CHECK: return {{.*}} : tensor<64x3xf32>
  func.func @layer_norm(%x: tensor<64x12xf32> {dist.sharding = #dist.sharding<["", "model"]>}, %s: tensor<12xf32>, %b: tensor<12xf32>)
      -> tensor<64x12xf32> {
    %0 = mlc.layer_norm %x, %s, %b {axis = 1, epsilon = #mlc.real<1.0e-5>} : (tensor<64x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<64x12xf32>
    return %0 : tensor<64x12xf32>
  }
}

// -----

// Weights of convolutions: the batch is summed over, and the sum is partial. So
// is a sum of partial sums, and one times a number; a square is not.

// CHECK-LABEL: func.func @conv
// CHECK: mlc.conv %{{.*}} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
// CHECK-NEXT: mlc.transpose
// CHECK-NEXT: mlc.transpose
// CHECK-NEXT: %[[G:.*]] = mlc.conv {{.*}} : (tensor<3x2x8x8xf32>, tensor<4x2x8x8xf32>) -> tensor<3x4x3x3xf32>
// CHECK-NEXT: %[[H:.*]] = mlc.neg %[[G]]
// CHECK-NEXT: %[[T:.*]] = mlc.mul %[[H]], %{{.*}}
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce %[[T]] {axis = #dist.axis<"data", 3>
// CHECK-NEXT: mlc.mul %[[S]], %[[S]]
// CHECK-NEXT: return
module attributes {dist.mesh = [#dist.axis<"data", 3>]} {
  func.func @conv(%x: tensor<6x3x8x8xf32> {dist.sharding = #dist.sharding<["data", "", "", ""]>}, %w: tensor<4x3x3x3xf32>, %k: tensor<3x4x3x3xf32>) -> tensor<3x4x3x3xf32> {
    %y = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<6x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<6x4x8x8xf32>
    %xt = mlc.transpose %x {permutation = array<i64: 1, 0, 2, 3>} : (tensor<6x3x8x8xf32>) -> tensor<3x6x8x8xf32>
    %yt = mlc.transpose %y {permutation = array<i64: 1, 0, 2, 3>} : (tensor<6x4x8x8xf32>) -> tensor<4x6x8x8xf32>
    %g = mlc.conv %xt, %yt {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<3x6x8x8xf32>, tensor<4x6x8x8xf32>) -> tensor<3x4x3x3xf32>
    %n = mlc.neg %g : (tensor<3x4x3x3xf32>) -> tensor<3x4x3x3xf32>
    %s = mlc.mul %n, %k : (tensor<3x4x3x3xf32>, tensor<3x4x3x3xf32>) -> tensor<3x4x3x3xf32>
    %r = mlc.mul %s, %s : (tensor<3x4x3x3xf32>, tensor<3x4x3x3xf32>) -> tensor<3x4x3x3xf32>
    return %r : tensor<3x4x3x3xf32>
  }

  // A place that is a number: all ranks draw what one would.
  // CHECK-LABEL: func.func @random
  // CHECK: mlc.compute {{.*}}threefry({{.*}}(i + 2 * n0) * 5 + j{{.*}}integers = #mlc.dims<[rank.data]>
  // CHECK-NEXT: mlc.mul
  func.func @random(%x: tensor<6x5xf32> {dist.sharding = #dist.sharding<["data", ""]>}, %step: tensor<ui64>) -> tensor<6x5xf32> {
    %0 = mlc.random_uniform %step {dims = #mlc.dims<[6, 5]>, seed = 7, type = f32} : (tensor<ui64>) -> tensor<6x5xf32>
    %1 = mlc.mul %x, %0 : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
    return %1 : tensor<6x5xf32>
  }

  // What is looked up where data say is whole; gradients of it are summed.
  // CHECK-LABEL: func.func @embedding
  // CHECK: mlc.gather %{{.*}} : (tensor<9x4xf32>, tensor<2x5xi64>) -> tensor<2x5x4xf32>
  // CHECK: %[[Z:.*]] = mlc.fill
  // CHECK: %[[G:.*]] = mlc.scatter_add %[[Z]], %{{.*}} : (tensor<9x4xf32>, tensor<2x5xi64>, tensor<2x5x4xf32>) -> tensor<9x4xf32>
  // CHECK: dist.all_reduce %[[G]]
  func.func @embedding(%t: tensor<6x5xi64> {dist.sharding = #dist.sharding<["data", ""]>}, %w: tensor<9x4xf32>) -> tensor<9x4xf32> {
    %0 = mlc.gather %w, %t {axis = 0} : (tensor<9x4xf32>, tensor<6x5xi64>) -> tensor<6x5x4xf32>
    %1 = mlc.exp %0 : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
    %2 = mlc.fill {dims = #mlc.dims<[9, 4]>, value = #mlc.real<0.0>, type = f32} : () -> tensor<9x4xf32>
    %3 = mlc.scatter_add %2, %t, %1 {axis = 0} : (tensor<9x4xf32>, tensor<6x5xi64>, tensor<6x5x4xf32>) -> tensor<9x4xf32>
    return %3 : tensor<9x4xf32>
  }
}
