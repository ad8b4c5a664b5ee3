// Kernels that would depend on each other in a circle. %z reads the second
// product, %t, and the first, %c, which reads %p; with %p is computed %q, which
// reads %t. So %z comes behind the first product, and not behind the second.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK: exec.launch @[[SECOND:.+]](%{{.+}}, %{{.+}}) -> (%[[T:.+]]) args
// CHECK: exec.launch @{{.+}}(%{{.+}}, %{{.+}}) -> (%{{.+}}, %[[Q:.+]]) args
// CHECK: exec.launch @{{.+}}(%{{.+}}, %{{.+}}, %[[T]]) -> (%[[Z:.+]]) args
// CHECK-NOT: exec.launch
// CHECK: exec.output "output0" %[[Z]]
// CHECK: exec.output "output1" %[[Q]]

func.func @main(%x: tensor<2x6x7xf32>, %w: tensor<14x7xf32>, %y: tensor<6x4xf32>, %v: tensor<4x7xf32>) -> (tensor<6x7xf32>, tensor<2x6x7xf32>) {
  %p = mlc.exp %x : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %r = mlc.reshape %p {dims = #mlc.dims<[6, 14]>} : (tensor<2x6x7xf32>) -> tensor<6x14xf32>
  %c = mlc.matmul %r, %w : (tensor<6x14xf32>, tensor<14x7xf32>) -> tensor<6x7xf32>
  %t = mlc.matmul %y, %v : (tensor<6x4xf32>, tensor<4x7xf32>) -> tensor<6x7xf32>
  %b = mlc.reshape %t {dims = #mlc.dims<[1, 6, 7]>} : (tensor<6x7xf32>) -> tensor<1x6x7xf32>
  %e = mlc.broadcast %b {dims = #mlc.dims<[2, 6, 7]>} : (tensor<1x6x7xf32>) -> tensor<2x6x7xf32>
  %q = mlc.add %p, %e : (tensor<2x6x7xf32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %z = mlc.add %t, %c : (tensor<6x7xf32>, tensor<6x7xf32>) -> tensor<6x7xf32>
  return %z, %q : tensor<6x7xf32>, tensor<2x6x7xf32>
}
