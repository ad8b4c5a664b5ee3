// Symbols come from the inputs' shapes, conditions on them become checks, and
// kernels take the symbols that they need. Pads go with the ops before them.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s N=3 W=5 -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK: exec.symbol "N" from input 0 dim 0
// CHECK: exec.symbol "W" from input 0 dim 2
// CHECK: exec.check #mlc.int<{{.*}}W{{.*}}>, "{{.*}}window{{.*}}"
// CHECK: exec.launch @[[K:.+]](%{{.+}}) -> (%[[P:.+]]) args <[N, W]>
// CHECK: exec.launch @{{.+}}(%[[P]], %{{.+}}) -> (%{{.+}}) args <[N, W]>
// CHECK-NOT: exec.launch
// CHECK: func.func private @[[K]](%{{.+}}: tensor<?x4x?xf32> {mlc.dims = #mlc.dims<[N, 4, W]>}, %{{.+}}: index, %{{.+}}: index)
// CHECK-SAME: mlc.symbols = ["N", "W"]
// CHECK: math.exp
// CHECK: tensor.pad
func.func @main(%x: tensor<?x4x?xf32, #mlc.dims<[N, 4, W]>>, %w: tensor<8x4x3xf32>) -> tensor<?x8x?xf32, #mlc.dims<[N, 8, W - 1]>> {
  %0 = mlc.exp %x : (tensor<?x4x?xf32, #mlc.dims<[N, 4, W]>>) -> tensor<?x4x?xf32, #mlc.dims<[N, 4, W]>>
  %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (tensor<?x4x?xf32, #mlc.dims<[N, 4, W]>>, tensor<8x4x3xf32>) -> tensor<?x8x?xf32, #mlc.dims<[N, 8, W - 1]>>
  return %1 : tensor<?x8x?xf32, #mlc.dims<[N, 8, W - 1]>>
}
