// Groups that compute the same thing share one kernel; a long chain is cut
// into equal pieces.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK: exec.launch @k0(%[[X:.+]]) -> (%[[A:.+]]) args
// CHECK: exec.launch @k0(%[[A]]) -> (%[[B:.+]]) args
// CHECK: exec.launch @k0(%[[B]]) -> (%[[C:.+]]) args
// CHECK-NOT: exec.launch
// CHECK: exec.output "output0" %[[C]]
// CHECK: func.func private @k0
// CHECK-NOT: func.func private

func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = mlc.softmax %x {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %1 = mlc.softmax %0 {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %2 = mlc.softmax %1 {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %3 = mlc.softmax %2 {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %4 = mlc.softmax %3 {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  %5 = mlc.softmax %4 {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  return %5 : tensor<1000xf32>
}
