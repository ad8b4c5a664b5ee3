// A contraction takes the element-wise ops that follow it; the rest of the
// graph is one loop group; a reshape is no work.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.+]] = exec.input 0 : f32 <[1, 3, 8, 8]> {name = "x"}
// CHECK: exec.launch @[[PAD:.+]](%[[X]])
// CHECK: %[[B:.+]] = exec.constant dense<{{.*}}> : tensor<4xf32>
// CHECK: %[[BIAS:.+]] = exec.alias %[[B]][#mlc.int<0>] : f32 <[1, 4, 1, 1]>
// CHECK: %[[Y:.+]] = exec.alloc : f32 <[1, 4, 8, 8]>
// CHECK: exec.launch @[[CONV:.+]](%{{.+}}, %{{.+}}, %[[BIAS]]) -> (%[[Y]])
// CHECK: exec.launch @[[TAIL:.+]](%[[Y]]) -> (%[[P:.+]]) args
// CHECK-NOT: exec.launch
// CHECK: exec.output "y" %[[Y]]
// CHECK: exec.output "p" %[[P]]
// CHECK: func.func private @[[CONV]](
// CHECK: arith.mulf
// CHECK: arith.maximumf
// CHECK: func.func private @[[TAIL]](
// CHECK: math.exp

func.func @main(%x: tensor<1x3x8x8xf32> {mlc.name = "x"}, %w: tensor<4x3x3x3xf32> {mlc.name = "w"}) -> (tensor<1x4x8x8xf32> {mlc.name = "y"}, tensor<1x4xf32> {mlc.name = "p"}) {
  %b = mlc.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %b4 = mlc.reshape %b {dims = #mlc.dims<[1, 4, 1, 1]>} : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
  %bb = mlc.broadcast %b4 {dims = #mlc.dims<[1, 4, 8, 8]>} : (tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %s = mlc.add %c, %bb : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %r = mlc.relu %s : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %m = mlc.reduce %r {kind = "mean", axes = array<i64: 2, 3>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
  %f = mlc.reshape %m {dims = #mlc.dims<[1, 4]>} : (tensor<1x4x1x1xf32>) -> tensor<1x4xf32>
  %p = mlc.softmax %f {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %r, %p : tensor<1x4x8x8xf32>, tensor<1x4xf32>
}
