// Where a GPU gains from channels that are last: transposes at the borders of a
// network must take less than its convolutions gain. The results are those of
// the plain operators.
// RUN: mlc-opt --mlc-assign-layout=target=cuda:sm_90a %s | FileCheck %s
// RUN: mlc-opt --mlc-assign-layout=target=cuda:sm_75 %s | FileCheck --check-prefix=OLD %s
// RUN: %python %S/../execute.py %s N=2 -- --mlc-assign-layout=target=cuda:sm_90a --mlc-fold-constants --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants

// Without tensor cores nothing changes.
// OLD-NOT: mlc.laid_out

// An image is read as it is, and a single pixel is the same in any order. Batch
// norms become factors that constant folding computes.
// CHECK-LABEL: func.func @network
// CHECK-NOT: mlc.pack
// CHECK-NOT: mlc.batch_norm
// CHECK: mlc.laid_out {{.*}}layouts = [#mlc.layout<[a, b, c, d]>, #mlc.layout<[a, b, c, d]>, #mlc.layout<[a, c, d, b]>]{{.*}}plain_op = "mlc.conv"
// CHECK: mlc.relu {{.*}} : (tensor<?x5x5x16xf32
// CHECK: mlc.laid_out {{.*}}layouts = [#mlc.layout<[a, c, d, b]>, #mlc.layout<[a, c, d, b]>, #mlc.layout<[a, c, d, b]>]{{.*}}plain_op = "mlc.conv"
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.broadcast"
// CHECK: mlc.mul
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.reduce"
// CHECK-NOT: mlc.unpack
// CHECK: mlc.reshape {{.*}} {dims = #mlc.dims<[N, 16, 1, 1]>}
func.func @network(%x: tensor<?x3x9x9xf32, #mlc.dims<[N, 3, 9, 9]>>) -> tensor<?x16x1x1xf32, #mlc.dims<[N, 16, 1, 1]>> {
  %v = mlc.constant dense<0.125> : tensor<16x3x3x3xf32>
  %w = mlc.constant dense<0.25> : tensor<16x16x3x3xf32>
  %s = mlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]> : tensor<16xf32>
  %0 = mlc.conv %x, %v {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<?x3x9x9xf32, #mlc.dims<[N, 3, 9, 9]>>, tensor<16x3x3x3xf32>) -> tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>
  %1 = mlc.relu %0 : (tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>) -> tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>
  %2 = mlc.conv %1, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>, tensor<16x16x3x3xf32>) -> tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>
  %3 = mlc.batch_norm %2, %s, %s, %s, %s {epsilon = #mlc.real<0.001>} : (tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>
  %4 = mlc.reduce %3 {axes = array<i64: 2, 3>, kind = "mean"} : (tensor<?x16x5x5xf32, #mlc.dims<[N, 16, 5, 5]>>) -> tensor<?x16x1x1xf32, #mlc.dims<[N, 16, 1, 1]>>
  return %4 : tensor<?x16x1x1xf32, #mlc.dims<[N, 16, 1, 1]>>
}

// One small convolution gains less than transposes take.
// CHECK-LABEL: func.func @small
// CHECK-NOT: mlc.pack
// CHECK: mlc.conv
func.func @small(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %w = mlc.constant dense<0.25> : tensor<16x16x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %0 : tensor<1x16x6x6xf32>
}

// The model's own transposes vanish.
// CHECK-LABEL: func.func @turned
// CHECK: mlc.pad %arg0
// CHECK: %[[Y:.*]] = mlc.laid_out {{.*}}plain_op = "mlc.conv"{{.*}}-> tensor<1x6x6x16xf32>
// CHECK-NOT: mlc.transpose
// CHECK: return %[[Y]]
func.func @turned(%x: tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32> {
  %w = mlc.constant dense<0.25> : tensor<16x16x3x3xf32>
  %0 = mlc.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x6x6x16xf32>) -> tensor<1x16x6x6xf32>
  %1 = mlc.conv %0, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32>
  %2 = mlc.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x16x6x6xf32>) -> tensor<1x6x6x16xf32>
  return %2 : tensor<1x6x6x16xf32>
}

// Weights that may change would be rearranged in each run, as in training; rows
// of one dim have no window across them.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: mlc.laid_out
// CHECK: return
func.func @weights(%x: tensor<8x64x6x6xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<8x64x1x1xf32> {
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<8x64x6x6xf32>, tensor<64x64x3x3xf32>) -> tensor<8x64x6x6xf32>
  %1 = mlc.reduce %0 {axes = array<i64: 2, 3>, kind = "mean"} : (tensor<8x64x6x6xf32>) -> tensor<8x64x1x1xf32>
  return %1 : tensor<8x64x1x1xf32>
}

// CHECK-LABEL: func.func @line
// CHECK-NOT: mlc.laid_out
// CHECK: return
func.func @line(%x: tensor<2x3x64xf32>) -> tensor<2x16x1xf32> {
  %v = mlc.constant dense<0.125> : tensor<16x3x3xf32>
  %w = mlc.constant dense<0.25> : tensor<16x16x3xf32>
  %0 = mlc.conv %x, %v {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<2x3x64xf32>, tensor<16x3x3xf32>) -> tensor<2x16x64xf32>
  %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<2x16x64xf32>, tensor<16x16x3xf32>) -> tensor<2x16x64xf32>
  %2 = mlc.reduce %1 {axes = array<i64: 2>, kind = "mean"} : (tensor<2x16x64xf32>) -> tensor<2x16x1xf32>
  return %2 : tensor<2x16x1xf32>
}

// What nobody reads is not chosen.
// CHECK-LABEL: func.func @dead
// CHECK-NOT: mlc.conv
// CHECK: return
func.func @dead(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %w = mlc.constant dense<0.25> : tensor<16x16x3x3xf32>
  %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32>
  %1 = mlc.relu %x : (tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %1 : tensor<1x16x6x6xf32>
}
