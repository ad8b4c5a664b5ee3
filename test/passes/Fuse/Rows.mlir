// A 1x1 convolution of plain pixels runs over all rows as one, so the border that
// its reader wants is put around by a kernel of its own; a 3x3 convolution
// writes into the bordered buffer itself.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK: exec.launch @[[POINT:k[0-9]+]](
// CHECK: exec.launch @[[BORDER:k[0-9]+]](
// CHECK: exec.launch @[[WINDOW:k[0-9]+]](
// CHECK-NOT: exec.launch
// CHECK: func.func private @[[POINT]]({{.*}} -> tensor<1x4x8x8xf32>
// CHECK: func.func private @[[BORDER]]({{.*}} -> tensor<1x4x10x10xf32>
// CHECK: func.func private @[[WINDOW]]({{.*}} -> tensor<1x4x10x10xf32>
func.func @main(%x: tensor<1x4x8x8xf32> {mlc.name = "x"}, %p: tensor<4x4x1x1xf32> {mlc.name = "p"}, %w: tensor<4x4x3x3xf32> {mlc.name = "w"}) -> (tensor<1x4x10x10xf32> {mlc.name = "y"}) {
  %0 = mlc.conv %x, %p {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = mlc.conv %0, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %2 = mlc.pad %1 {low = #mlc.dims<[0, 0, 1, 1]>, high = #mlc.dims<[0, 0, 1, 1]>, mode = "constant", value = #mlc.real<0.0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x10x10xf32>
  return %2 : tensor<1x4x10x10xf32>
}
