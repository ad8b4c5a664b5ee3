// A chain of equal kernels is one launch where the back end can repeat the kernel.
//
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse=target=cuda:sm_80 %s | FileCheck %s
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s --check-prefix=CPU

// Three kernels of two softmaxes each.
// CHECK: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0
// CHECK: %[[Y:.*]] = exec.alloc
// CHECK: exec.launch @[[CHAIN:.*]](%[[X]]) -> (%[[Y]])
// CHECK-NOT: exec.launch
// CHECK: func.func private @[[CHAIN]]
// CHECK-SAME: mlc.repeat = array<i64: 3, 0>
// CPU-NOT: mlc.repeat
func.func @main(%x: tensor<3x100xf32>) -> tensor<3x100xf32> {
  %0 = mlc.softmax %x {axis = 1 : i64} : (tensor<3x100xf32>) -> tensor<3x100xf32>
  %1 = mlc.softmax %0 {axis = 1 : i64} : (tensor<3x100xf32>) -> tensor<3x100xf32>
  %2 = mlc.softmax %1 {axis = 1 : i64} : (tensor<3x100xf32>) -> tensor<3x100xf32>
  %3 = mlc.softmax %2 {axis = 1 : i64} : (tensor<3x100xf32>) -> tensor<3x100xf32>
  %4 = mlc.softmax %3 {axis = 1 : i64} : (tensor<3x100xf32>) -> tensor<3x100xf32>
  %5 = mlc.softmax %4 {axis = 1 : i64} : (tensor<3x100xf32>) -> tensor<3x100xf32>
  return %5 : tensor<3x100xf32>
}
