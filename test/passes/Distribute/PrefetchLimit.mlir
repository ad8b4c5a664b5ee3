// RUN: mlc-opt %s --mlc-add-training-step="loss=mse states=true" --mlc-distribute-training="ranks=2 zero=3" --mlc-partition=reshard-after-forward --mlc-bucket=bucket-bytes=1 --mlc-apply-rules --mlc-assign-layout --mlc-lower-collectives --mlc-lower-to-linalg --mlc-fuse | FileCheck %s
// RUN: sed 's/@three {/@three attributes {dist.prefetch_limit = 512 : i64} {/' %s > %t && mlc-opt %t --mlc-add-training-step="loss=mse states=true" --mlc-distribute-training="ranks=2 zero=3" --mlc-partition=reshard-after-forward --mlc-bucket=bucket-bytes=1 --mlc-apply-rules --mlc-assign-layout --mlc-lower-collectives --mlc-lower-to-linalg --mlc-fuse | FileCheck %s --check-prefix=TWO
// RUN: sed 's/@three {/@three attributes {dist.prefetch_limit = 0 : i64} {/' %s > %t && mlc-opt %t --mlc-add-training-step="loss=mse states=true" --mlc-distribute-training="ranks=2 zero=3" --mlc-partition=reshard-after-forward --mlc-bucket=bucket-bytes=1 --mlc-apply-rules --mlc-assign-layout --mlc-lower-collectives --mlc-lower-to-linalg --mlc-fuse | FileCheck %s --check-prefix=ONE
// RUN: sed 's/@three {/@three attributes {dist.prefetch_limit = -1 : i64} {/' %s > %t && not mlc-opt %t --mlc-distribute-training="ranks=2 zero=3" --mlc-partition=reshard-after-forward --mlc-lower-collectives --mlc-lower-to-linalg --mlc-fuse 2>&1 | FileCheck %s --check-prefix=WRONG

// Weights of 256 bytes. All are gathered at once, for the gradients too: the
// first layer's is not, as nobody wants the gradient of x.
// CHECK: exec.program @step
// CHECK-COUNT-5: exec.start {{[0-9]+}} "all_gather"
// CHECK-NOT: all_gather
// CHECK-COUNT-3: exec.start {{[0-9]+}} "reduce_scatter"
// Who waits for a gradient waits at the end.
// CHECK-NOT: exec.start
// CHECK: exec.wait

// Two ahead of their readers. The first and the second gradient wait to be
// summed while the third is computed.
// TWO: exec.program @step
// TWO-COUNT-2: exec.start {{[0-9]+}} "all_gather"
// TWO-NOT: all_gather
// TWO: exec.wait 0
// TWO: exec.launch
// TWO-NOT: exec.launch
// TWO: exec.start 2 "all_gather"
// TWO: exec.start [[FIRST:[0-9]+]] "reduce_scatter"
// TWO: exec.start [[SECOND:[0-9]+]] "reduce_scatter"
// TWO: exec.wait [[FIRST]]
// TWO-NEXT: exec.start {{[0-9]+}} "reduce_scatter"

// One: while a kernel reads the one, the next is on its way.
// ONE: exec.program @step
// ONE: exec.start 0 "all_gather"
// ONE-NOT: all_gather
// ONE: exec.wait 0
// ONE-NOT: all_gather
// ONE: exec.launch
// ONE: exec.start 1 "all_gather"
// ONE-NOT: all_gather
// ONE: exec.wait 1
// ONE: exec.start [[FIRST:[0-9]+]] "reduce_scatter"
// ONE: exec.wait [[FIRST]]
// ONE-NEXT: exec.start [[SECOND:[0-9]+]] "reduce_scatter"
// ONE: exec.wait [[SECOND]]
// ONE-NEXT: exec.start {{[0-9]+}} "reduce_scatter"

// WRONG: error: dist.prefetch_limit is a number of bytes, an i64 from 0 on, and not -1
module @three {
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
}
