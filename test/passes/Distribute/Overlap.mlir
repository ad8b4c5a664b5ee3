// RUN: mlc-opt %s --mlc-add-training-step="loss=mse states=true" --mlc-distribute-training=ranks=2 --mlc-partition --mlc-bucket=bucket-bytes=256 --mlc-apply-rules --mlc-assign-layout --mlc-lower-collectives --mlc-lower-to-linalg --mlc-fuse | FileCheck %s

// The gradients of the last layer are on their way while those of the layers
// before are computed, in the order of the buckets; updates come when all are.
// CHECK: exec.program @step
// The loss, which is printed.
// CHECK: exec.start {{[0-9]+}} "all_reduce"{{.*}} args <[1]>
// CHECK: exec.launch
// CHECK: exec.start [[FIRST:[0-9]+]] "all_reduce"
// CHECK: exec.launch
// CHECK: exec.start [[SECOND:[0-9]+]] "all_reduce"
// CHECK: exec.launch
// CHECK: exec.start [[THIRD:[0-9]+]] "all_reduce"
// CHECK-NOT: exec.launch
// CHECK: exec.wait [[FIRST]]
// CHECK: exec.launch
// CHECK: exec.wait [[SECOND]]
// CHECK: exec.launch
// CHECK: exec.wait [[THIRD]]
// CHECK: exec.launch
func.func @main(%x: tensor<8x8xf32> {mlc.name = "x"},
    %w1: tensor<8x8xf32> {mlc.name = "w1", mlc.parameter = dense<0.5> : tensor<8x8xf32>},
    %w2: tensor<8x8xf32> {mlc.name = "w2", mlc.parameter = dense<0.25> : tensor<8x8xf32>},
    %w3: tensor<8x8xf32> {mlc.name = "w3", mlc.parameter = dense<0.125> : tensor<8x8xf32>})
    -> (tensor<8x8xf32> {mlc.name = "y"}) {
  %0 = mlc.matmul %x, %w1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mlc.tanh %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = mlc.matmul %1, %w2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = mlc.tanh %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = mlc.matmul %3, %w3 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
