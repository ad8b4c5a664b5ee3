// A concatenation whose pieces lie one after another is no work: its pieces are
// written in place. What has no kernel of its own, or a place already, is
// copied. Otherwise one kernel copies all pieces.
// RUN: mlc-opt --split-input-file --mlc-lower-to-linalg --mlc-fuse %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.+]] = exec.input 0
// CHECK: %[[Y:.+]] = exec.alloc : f32 <[1, 48, 8]>
// CHECK: %[[A:.+]] = exec.alias %[[Y]][#mlc.int<0>] : f32 <[1, 16, 8]>
// CHECK: exec.launch @{{.+}}(%[[X]]) -> (%[[A]])
// CHECK: %[[B:.+]] = exec.alias %[[Y]][#mlc.int<512>] : f32 <[1, 16, 8]>
// CHECK: exec.launch @{{.+}}(%[[X]]) -> (%[[B]])
// CHECK: %[[C:.+]] = exec.alias %[[Y]][#mlc.int<1024>] : f32 <[1, 16, 8]>
// CHECK: exec.launch @{{.+}}(%{{.+}}) -> (%[[C]])
// CHECK-NOT: exec.launch
// CHECK: exec.output "output0" %[[Y]]
func.func @main(%x: tensor<1x16x8xf32>) -> tensor<1x48x8xf32> {
  %0 = mlc.softmax %x {axis = 2 : i64} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  %1 = mlc.log_softmax %x {axis = 1 : i64} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  %2 = mlc.concat %0, %1, %x {axis = 1 : i64} : (tensor<1x16x8xf32>, tensor<1x16x8xf32>, tensor<1x16x8xf32>) -> tensor<1x48x8xf32>
  return %2 : tensor<1x48x8xf32>
}

// -----

// CHECK-LABEL: exec.program @main
// CHECK: exec.alloc : f32 <[2, 32, 8]>
// CHECK: exec.launch @[[K:.+]](%{{.+}}, %{{.+}}) -> (%{{.+}})
// CHECK-NOT: exec.launch
// CHECK: func.func private @[[K]]
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @main(%x: tensor<2x16x8xf32>, %y: tensor<2x16x8xf32>) -> tensor<2x32x8xf32> {
  %2 = mlc.concat %x, %y {axis = 1 : i64} : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x32x8xf32>
  return %2 : tensor<2x32x8xf32>
}

// -----

// What reads a concatenation in place waits for all its pieces: it does not run
// in the kernel that copies one of them.
// CHECK-LABEL: exec.program @main
// CHECK: %[[Y:.+]] = exec.alloc : f32 <[6, 16]>
// CHECK: exec.launch @[[R:.+]](%{{.+}}) -> (%{{.+}}, %{{.+}}) args
// CHECK: exec.launch @[[COPY:.+]](%{{.+}}) -> (%{{.+}}) args
// CHECK: exec.launch @[[NEG:.+]](%[[Y]]) -> (%{{.+}}) args
func.func @main(%x: tensor<2x16xf32>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %0 = mlc.relu %x : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %1 = mlc.concat %0, %0, %x {axis = 0 : i64} : (tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<6x16xf32>
  %2 = mlc.neg %1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  return %1, %2 : tensor<6x16xf32>, tensor<6x16xf32>
}
