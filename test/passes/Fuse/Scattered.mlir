// A contraction reads through a movement unless its vectors of pixels would have
// to be gathered: unpacking blocked channels stays an operator of its own.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK-LABEL: exec.program @main
// CHECK: %[[PLAIN:.+]] = exec.alloc : f32 <[1, 24, 8, 8]>
// CHECK: exec.launch @{{k[0-9]+}}({{.*}}) -> (%[[PLAIN]])
// CHECK: exec.launch @[[CONV:k[0-9]+]](%[[PLAIN]],
// CHECK: func.func private @[[CONV]](%{{.*}}: tensor<1x24x8x8xf32>
func.func @main(%x: tensor<1x2x8x8x16xf32> {mlc.name = "x"}, %w: tensor<40x12x1x1xf32> {mlc.name = "w"}) -> (tensor<1x40x8x8xf32> {mlc.name = "y"}) {
  %0 = mlc.unpack %x {layout = #mlc.layout<[a, b div 16, c, d, b mod 16], b = 24>} : (tensor<1x2x8x8x16xf32>) -> tensor<1x24x8x8xf32>
  %1 = mlc.conv %0, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<2>} : (tensor<1x24x8x8xf32>, tensor<40x12x1x1xf32>) -> tensor<1x40x8x8xf32>
  return %1 : tensor<1x40x8x8xf32>
}
