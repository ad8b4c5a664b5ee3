// Stages of a step whose batch, states and weights are split over ranks.
// RUN: mlc-opt %s --mlc-assign-stages="ends=a" --mlc-add-training-step="loss=output states=true apart=true optimizer=momentum" --mlc-split-tied-sums --mlc-distribute-training="ranks=2 zero=3 mesh=stage=2,tensor=2 shard=w=-:tensor" --mlc-partition --mlc-cut-stages --mlc-bucket -o %t.cut.mlir
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
// RUN: not mlc-opt %s --mlc-split-tied-sums 2>&1 | FileCheck %s --check-prefix=ENTRIES
// ENTRIES: has no entries @accumulate and @apply of a step whose sums could be split
// PROVED: proved

// The axis of stages splits nothing, and no rank exchanges along it.
// CHECK: dist.mesh = [#dist.axis<"data", 2>, #dist.axis<"stage", 2>, #dist.axis<"tensor", 2>]
// Each entry gathers the weight for itself, and a sum lies in the entry of the
// stage that it is of.
// CHECK: func.func @"0F"
// CHECK: dist.all_gather {{.*}}"data"
// CHECK: func.func @"1F"
// CHECK: dist.all_gather {{.*}}"data"
// CHECK: func.func @"0B"
// CHECK: dist.reduce_scatter {{.*}}"data"
// CHECK: func.func @"1B"
// CHECK: dist.all_gather {{.*}}"data"
// CHECK: dist.reduce_scatter {{.*}}"data"
// CHECK-NOT: axis<"stage", 2>,
// Each stage has its part of the sum of a weight that both read.
// CHECK: func.func @"0STEP"({{.*}}mlc.name = "1NORM/gradient/w@1", mlc.role = "carried"

func.func @main(%x: tensor<4x4xf32> {mlc.name = "x"},
                %w: tensor<4x4xf32> {mlc.name = "w", mlc.parameter = dense<0.0> : tensor<4x4xf32>})
    -> (tensor<f32> {mlc.name = "y"}) {
  %a = mlc.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %b = mlc.tanh %a : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("b")
  %c = mlc.matmul %b, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("c")
  %d = mlc.reduce %c {axes = array<i64: 0, 1>, kind = "sum"} : (tensor<4x4xf32>) -> tensor<1x1xf32> loc("d")
  %y = mlc.reshape %d {dims = #mlc.dims<[]>} : (tensor<1x1xf32>) -> tensor<f32> loc("e")
  return %y : tensor<f32>
}
