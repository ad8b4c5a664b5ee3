// Gradients of convolutions work on stored tensors: that of the input as a
// convolution by reversed weights, that of the weights as a convolution of
// exchanged layouts. The results are those of the plain operators, by definition
// and compiled, for channels that fill no block and for sizes that are open.
// RUN: mlc-opt --mlc-assign-layout=block=16 %s | FileCheck %s
// RUN: mlc-opt --mlc-assign-layout=channels-last %s | FileCheck %s --check-prefix=LAST
// RUN: %python %S/../execute.py %s N=3 H=7 -- --mlc-assign-layout=block=16 --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants
// RUN: %python %S/../execute.py %s N=1 H=5 -- --mlc-assign-layout=block=16 --mlc-fold-constants --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants
// RUN: %python %S/../execute.py %s N=0 H=7 -- --mlc-assign-layout=block=16 --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants
// RUN: %python %S/../execute.py %s N=3 H=7 -- --mlc-assign-layout=block=8 --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants

// CHECK-LABEL: func.func @input
// CHECK: mlc.reverse %{{.*}} {axes = array<i64: 2, 3>}
// CHECK: mlc.laid_out {{.*}}layouts = [#mlc.layout<[a, b div 16, c, d, b mod 16], b = 40>, #mlc.layout<[a div 16, b div 16, c, d, b mod 16, a mod 16], a = 24, b = 40>, #mlc.layout<[a, b div 16, c, d, b mod 16], b = 24>]{{.*}}pads = #mlc.dims<[0, 0, 0, 0]>{{.*}}plain_op = "mlc.conv"
// CHECK-NOT: mlc.conv_transpose
// LAST-LABEL: func.func @input
// LAST: mlc.conv_transpose
func.func @input(%y: tensor<3x40x?x9xf32, #mlc.dims<[3, 40, H, 9]>>, %w: tensor<40x24x3x3xf32>) -> tensor<3x24x?x9xf32, #mlc.dims<[3, 24, H, 9]>> {
  %0 = mlc.conv_transpose %y, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (tensor<3x40x?x9xf32, #mlc.dims<[3, 40, H, 9]>>, tensor<40x24x3x3xf32>) -> tensor<3x24x?x9xf32, #mlc.dims<[3, 24, H, 9]>>
  return %0 : tensor<3x24x?x9xf32, #mlc.dims<[3, 24, H, 9]>>
}

// A stride leaves zeros between elements.
// CHECK-LABEL: func.func @strided_input
// CHECK: mlc.conv_transpose
func.func @strided_input(%y: tensor<2x32x4x4xf32>, %w: tensor<32x32x2x2xf32>) -> tensor<2x32x8x8xf32> {
  %0 = mlc.conv_transpose %y, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (tensor<2x32x4x4xf32>, tensor<32x32x2x2xf32>) -> tensor<2x32x8x8xf32>
  return %0 : tensor<2x32x8x8xf32>
}

// More pads than the kernel reaches would be negative ones.
// CHECK-LABEL: func.func @wide_pads
// CHECK: mlc.conv_transpose
func.func @wide_pads(%y: tensor<2x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<2x32x4x4xf32> {
  %0 = mlc.conv_transpose %y, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[3, 3, 3, 3]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (tensor<2x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x4x4xf32>
  return %0 : tensor<2x32x4x4xf32>
}

// The stride of the convolution is the dilation of its gradient.
// CHECK-LABEL: func.func @weights
// CHECK: mlc.laid_out {{.*}}layouts = [#mlc.layout<[b, a div 16, c, d, a mod 16], a = 24>, #mlc.layout<[b, a div 16, c, d, a mod 16], a = 40>, #mlc.layout<[b div 16, a div 16, c, d, a mod 16, b mod 16], a = 24, b = 40>]{{.*}}plain_op = "mlc.conv"
// CHECK: mlc.unpack {{.*}}#mlc.layout<[a div 16, b div 16, c, d, b mod 16, a mod 16], b = 24, a = 40>
// CHECK-NOT: mlc.transpose
// LAST-LABEL: func.func @weights
// LAST: mlc.transpose
func.func @weights(%x: tensor<?x24x9x9xf32, #mlc.dims<[N, 24, 9, 9]>>, %y: tensor<?x40x4x9xf32, #mlc.dims<[N, 40, 4, 9]>>) -> tensor<40x24x5x3xf32> {
  %0 = mlc.transpose %x {permutation = array<i64: 1, 0, 2, 3>} : (tensor<?x24x9x9xf32, #mlc.dims<[N, 24, 9, 9]>>) -> tensor<24x?x9x9xf32, #mlc.dims<[24, N, 9, 9]>>
  %1 = mlc.transpose %y {permutation = array<i64: 1, 0, 2, 3>} : (tensor<?x40x4x9xf32, #mlc.dims<[N, 40, 4, 9]>>) -> tensor<40x?x4x9xf32, #mlc.dims<[40, N, 4, 9]>>
  %2 = mlc.conv %0, %1 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[2, 1]>, groups = #mlc.int<1>} : (tensor<24x?x9x9xf32, #mlc.dims<[24, N, 9, 9]>>, tensor<40x?x4x9xf32, #mlc.dims<[40, N, 4, 9]>>) -> tensor<24x40x5x3xf32>
  %3 = mlc.transpose %2 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<24x40x5x3xf32>) -> tensor<40x24x5x3xf32>
  return %3 : tensor<40x24x5x3xf32>
}

// An image's few channels stay as they are; the gradient is read as it is and
// as its transpose.
// CHECK-LABEL: func.func @first_layer
// CHECK: mlc.laid_out {{.*}}layouts = [#mlc.layout<[b, a, c, d]>, #mlc.layout<[b, a div 16, c, d, a mod 16], a = 16>, #mlc.layout<[b div 16, a, c, d, b mod 16], b = 16>]
// CHECK-COUNT-2: mlc.unpack
func.func @first_layer(%x: tensor<2x3x8x8xf32>, %y: tensor<2x16x6x6xf32>) -> (tensor<3x16x3x3xf32>, tensor<16x3x3x3xf32>) {
  %0 = mlc.transpose %x {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x3x8x8xf32>) -> tensor<3x2x8x8xf32>
  %1 = mlc.transpose %y {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x16x6x6xf32>) -> tensor<16x2x6x6xf32>
  %2 = mlc.conv %0, %1 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<3x2x8x8xf32>, tensor<16x2x6x6xf32>) -> tensor<3x16x3x3xf32>
  %3 = mlc.transpose %2 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<3x16x3x3xf32>) -> tensor<16x3x3x3xf32>
  return %2, %3 : tensor<3x16x3x3xf32>, tensor<16x3x3x3xf32>
}

// A number for each channel that is not known when the model is compiled is
// stored in blocks beside what is, and sums for each channel are too.
// CHECK-LABEL: func.func @scaled
// CHECK: mlc.laid_out {{.*}}plain_op = "mlc.broadcast"
// CHECK: mlc.mul {{.*}} : (tensor<2x2x8x8x16xf32>
// CHECK: mlc.laid_out {{.*}}x1[i, j, u, v], 0)"{{.*}}plain_op = "mlc.compute"{{.*}}-> tensor<2x2x8x8x16xf32>
// CHECK: mlc.laid_out {{.*}}sum{{.*}}plain_op = "mlc.compute"{{.*}}-> tensor<1x2x1x1x16xf32>
func.func @scaled(%y: tensor<2x40x8x8xf32>, %w: tensor<40x24x1x1xf32>, %s: tensor<1x24x1x1xf32>) -> (tensor<2x24x8x8xf32>, tensor<1x24x1x1xf32>) {
  %0 = mlc.conv_transpose %y, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (tensor<2x40x8x8xf32>, tensor<40x24x1x1xf32>) -> tensor<2x24x8x8xf32>
  %1 = mlc.broadcast %s {dims = #mlc.dims<[2, 24, 8, 8]>} : (tensor<1x24x1x1xf32>) -> tensor<2x24x8x8xf32>
  %2 = mlc.mul %0, %1 : (tensor<2x24x8x8xf32>, tensor<2x24x8x8xf32>) -> tensor<2x24x8x8xf32>
  %m = mlc.compute %0, %2 {definition = "(x0, x1) Y[i, j, u, v] = select(x0[i, j, u, v] > 0, x1[i, j, u, v], 0)", dims = #mlc.dims<[2, 24, 8, 8]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<2x24x8x8xf32>, tensor<2x24x8x8xf32>) -> tensor<2x24x8x8xf32>
  %3 = mlc.compute %m {definition = "(x0) Y[i, j, u, v] = sum{r < 2, t < 8, t1 < 8}(x0[r, j, t, t1])", dims = #mlc.dims<[1, 24, 1, 1]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<2x24x8x8xf32>) -> tensor<1x24x1x1xf32>
  return %2, %3 : tensor<2x24x8x8xf32>, tensor<1x24x1x1xf32>
}
