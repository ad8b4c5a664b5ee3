// A 3x3 convolution of stride 1 with a constant filter takes the filter's
// transform (36 values for each 9). One of stride 2 is left alone.
// RUN: mlc-opt --mlc-assign-layout --mlc-fold-constants --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-assign-layout --mlc-fold-constants --mlc-lower-to-linalg --mlc-fuse --mlc-transform-constants %}

// CHECK-LABEL: exec.program @main
// CHECK: exec.constant {{.*}} : tensor<4x36x4x16x16xf32> : f32 <[4, 36, 4, 16, 16]>
// CHECK: exec.constant {{.*}} : tensor<4x4x3x3x16x16xf32>
// CHECK: func.func
// CHECK-COUNT-1: exec.inverse_transform "winograd" %{{.*}} : tensor<4x36x4x16x16xf32> to tensor<4x4x3x3x16x16xf32>
// CHECK-NOT: exec.inverse_transform

func.func @main(%x: tensor<1x64x32x32xf32> {mlc.name = "x"}) -> (tensor<1x64x16x16xf32> {mlc.name = "y"}) {
  %w = mlc.constant dense<0.5> : tensor<64x64x3x3xf32>
  %a = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x32x32xf32>
  %b = mlc.conv %a, %w {strides = #mlc.dims<[2, 2]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32>
  return %b : tensor<1x64x16x16xf32>
}
