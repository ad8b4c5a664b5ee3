// On a GPU a group that leaves few threads is not one kernel if its parts have more.
// RUN: mlc-opt --split-input-file --mlc-lower-to-linalg --mlc-fuse=target=cuda:sm_90a %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s N=3 -- --mlc-lower-to-linalg --mlc-fuse %}

// 192 columns of 3,000 steps each: the maxima are a kernel of many blocks.
// CHECK-LABEL: exec.program @main
// CHECK: exec.launch @[[MAXIMA:.+]](%{{.+}}) -> (%{{.+}}) args
// CHECK: exec.launch
// CHECK: func.func private @[[MAXIMA]]({{.*}}) -> tensor<1x192xf32>
func.func @main(%x: tensor<3000x192xf32>) -> tensor<3000x192xf32> {
  %0 = mlc.softmax %x {axis = 0 : i64} : (tensor<3000x192xf32>) -> tensor<3000x192xf32>
  return %0 : tensor<3000x192xf32>
}

// -----

// With few steps one launch is better.
// CHECK-LABEL: exec.program @main
// CHECK: exec.launch
// CHECK-NOT: exec.launch
func.func @main(%x: tensor<30x192xf32>) -> tensor<30x192xf32> {
  %0 = mlc.softmax %x {axis = 0 : i64} : (tensor<30x192xf32>) -> tensor<30x192xf32>
  return %0 : tensor<30x192xf32>
}

// -----

// So are rows of an open number: a size has one name in all tensors.
// CHECK-LABEL: exec.program @main
// CHECK: exec.launch
// CHECK-NOT: exec.launch
func.func @main(%x: tensor<?x1000xf32, #mlc.dims<[N, 1000]>>) -> tensor<?x1000xf32, #mlc.dims<[N, 1000]>> {
  %0 = mlc.log_softmax %x {axis = 1 : i64} : (tensor<?x1000xf32, #mlc.dims<[N, 1000]>>) -> tensor<?x1000xf32, #mlc.dims<[N, 1000]>>
  return %0 : tensor<?x1000xf32, #mlc.dims<[N, 1000]>>
}
