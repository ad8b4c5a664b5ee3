// A slice of a fill is a fill of its own: as a view of the whole one it would
// read what nobody writes.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK: exec.launch @[[PRODUCT:k[0-9]+]](%{{[0-9]+}}) ->
// CHECK-NOT: exec.launch
// CHECK: func.func private @[[PRODUCT]](
func.func @main(%x: tensor<4x8xf32> {mlc.name = "x"}) -> (tensor<4x8xf32> {mlc.name = "y"}) {
  %half = mlc.constant dense<0.5> : tensor<1x1xf32>
  %all = mlc.broadcast %half {dims = #mlc.dims<[8, 8]>} : (tensor<1x1xf32>) -> tensor<8x8xf32>
  %part = mlc.slice %all {sizes = #mlc.dims<[4, 8]>, starts = #mlc.dims<[2, 0]>, steps = #mlc.dims<[1, 1]>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %y = mlc.mul %x, %part : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
