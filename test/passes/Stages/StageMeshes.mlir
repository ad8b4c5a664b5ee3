// A stage whose samples are split over an axis over which the next one splits weights.
// RUN: mlc-opt %s --mlc-assign-stages="ends=b" --mlc-add-training-step="loss=output states=true apart=true optimizer=momentum" --mlc-split-tied-sums --mlc-distribute-training="ranks=2 mesh=stage=2,tensor=2 batch-stages=tensor=0 shard=v=-:tensor" --mlc-partition --mlc-cut-stages --mlc-bucket -o %t.cut.mlir
// RUN: FileCheck %s < %t.cut.mlir
// On all ranks together they are the step.
// RUN: mlc-opt %s --mlc-add-training-step="loss=output states=true apart=true optimizer=momentum" --mlc-join-stages | sed "s/@joined/@main/" > %t.whole.mlir
// RUN: mlc-opt %t.cut.mlir --mlc-join-stages | sed "s/@joined/@main/" > %t.joined.mlir
// RUN: mlc-opt %t.joined.mlir --mlc-stack-ranks -o %t.stacked.mlir
// RUN: mlc-verify %t.whole.mlir %t.stacked.mlir | FileCheck %s --check-prefix=PROVED
// A wrong one is not: here a sum over ranks is a maximum.
// RUN: sed 's/reduction = "sum"/reduction = "max"/' %t.joined.mlir > %t.wrong.mlir
// RUN: mlc-opt %t.wrong.mlir --mlc-stack-ranks -o %t.wrong.stacked.mlir
// RUN: not mlc-verify %t.whole.mlir %t.wrong.stacked.mlir
// What is said of stages is gone with their numbers.
// CHECK-NOT: dist.batch_stages
// PROVED: proved
// RUN: not mlc-opt %s --mlc-add-training-step="loss=output states=true apart=true" --mlc-distribute-training="mesh=tensor=2 batch-stages=data=0" 2>&1 | FileCheck %s --check-prefix=DATA
// DATA: expected axes after data with stages, as AXIS=0:2, not 'data=0'
// RUN: not mlc-opt %s --mlc-add-training-step="loss=output states=true apart=true" --mlc-distribute-training="mesh=tensor=2 batch-stages=tensor=x" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: not 'tensor=x'

// Stage 0 works on one of four samples, and gives it to stage 1, which gathers
// two of them, and scatters the sums of their gradients.
// CHECK: func.func @"0F"
// CHECK: mlc.matmul {{.*}} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
// CHECK-NOT: dist.all_gather
// CHECK: func.func @"1F"({{.*}}tensor<1x4xf32> {mlc.name = "0F/b", mlc.role = "carried"}
// CHECK: dist.all_gather {{.*}}"tensor"
// CHECK: mlc.matmul {{.*}} : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
// CHECK: func.func @"0B"({{.*}}tensor<1x4xf32> {mlc.name = "1B/
// CHECK: dist.all_reduce {{.*}}"tensor"
// CHECK: func.func @"1B"
// CHECK: dist.reduce_scatter {{.*}}"tensor"

func.func @main(%x: tensor<4x4xf32> {mlc.name = "x"},
                %w: tensor<4x4xf32> {mlc.name = "w", mlc.parameter = dense<0.0> : tensor<4x4xf32>},
                %v: tensor<4x4xf32> {mlc.name = "v", mlc.parameter = dense<0.0> : tensor<4x4xf32>})
    -> (tensor<f32> {mlc.name = "y"}) {
  %a = mlc.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %b = mlc.tanh %a : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("b")
  %c = mlc.matmul %b, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("c")
  %s = mlc.mul %c, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("s")
  %d = mlc.reduce %s {axes = array<i64: 0, 1>, kind = "sum"} : (tensor<4x4xf32>) -> tensor<1x1xf32> loc("d")
  %y = mlc.reshape %d {dims = #mlc.dims<[]>} : (tensor<1x1xf32>) -> tensor<f32> loc("e")
  return %y : tensor<f32>
}
