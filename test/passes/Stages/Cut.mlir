// RUN: mlc-opt %s --mlc-assign-stages="stages=2" | FileCheck %s --check-prefix=ASSIGN
// RUN: mlc-opt %s --mlc-assign-stages="ends=a" --mlc-add-training-step="loss=output states=true apart=true optimizer=momentum clip-norm=1" --mlc-cut-stages -o %t.cut.mlir
// RUN: FileCheck %s --check-prefix=CUT < %t.cut.mlir
// RUN: mlc-opt %s --mlc-assign-stages="ends=a" --mlc-add-training-step="loss=output states=true apart=true" --mlc-cut-stages=split-backward=true | FileCheck %s --check-prefix=SPLIT
// A step in stages is the step.
// RUN: mlc-opt %s --mlc-add-training-step="loss=output states=true apart=true optimizer=momentum clip-norm=1" --mlc-join-stages -o %t.whole.mlir
// RUN: mlc-opt %t.cut.mlir --mlc-join-stages -o %t.joined.mlir
// RUN: mlc-verify %t.whole.mlir %t.joined.mlir | FileCheck %s --check-prefix=PROVED
// A wrong one is not: here the second stage reads the first stage's other value.
// RUN: sed '/@"1F"/,/return/s/mlc.tanh/mlc.relu/' %t.cut.mlir > %t.wrong.mlir
// RUN: mlc-opt %t.wrong.mlir --mlc-join-stages -o %t.wrong.joined.mlir
// RUN: not mlc-verify %t.whole.mlir %t.wrong.joined.mlir
// RUN: not mlc-opt %s --mlc-assign-stages="stages=9" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mlc-opt %s --mlc-assign-stages="stages=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mlc-opt %s --mlc-assign-stages="ends=aa" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mlc-opt %s --mlc-assign-stages="ends=b,a" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not mlc-opt %s --mlc-assign-stages="ends=a,e" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not mlc-opt %s --mlc-cut-stages 2>&1 | FileCheck %s --check-prefix=ENTRIES
// RUN: echo 'module {}' | not mlc-opt --mlc-join-stages 2>&1 | FileCheck %s --check-prefix=JOIN
// RUN: mlc-opt %s --mlc-assign-stages="stages=2" --mlc-add-training-step="loss=output states=true apart=true" -o %t.assigned.mlir
// RUN: sed 's/dist.stage = 1 : i64/dist.stage = -1 : i64/' %t.assigned.mlir > %t.negative.mlir
// RUN: not mlc-opt %t.negative.mlir --mlc-cut-stages 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: mlc-opt %s -o %t.nameless.mlir
// RUN: not mlc-opt %t.nameless.mlir --mlc-assign-stages="ends=a" 2>&1 | FileCheck %s --check-prefix=NAMELESS
// STAGE: has -1 : i64 as dist.stage, which is an i64 from 0 to 4095
// NAMELESS: has operators without names, so no stage can end with node 'a'
// MANY: has 5 operators, too few for 9 stages
// NONE: a model has one stage at least, not 0
// NAME: has no node 'aa' to end a stage with; did you mean 'a'?
// ORDER: a stage ends with node 'a', which does not come after the end of the stage before
// EMPTY: the stage after node 'e' is empty; the last stage ends with the model
// ENTRIES: has no entries @accumulate and @apply of a step to cut
// JOIN: has no entries of a step to join

// The weight `w` is read by both stages.
// ASSIGN: mlc.matmul {{.*}} {dist.stage = 0 : i64}
// ASSIGN: mlc.tanh {{.*}} {dist.stage = {{[01]}} : i64}
// ASSIGN: mlc.matmul {{.*}} {dist.stage = 1 : i64}

// The second stage reads what the first has made, and sums gradients of its own
// for `w`; the first stage updates it and tells the second.
// CUT: func.func @"0F"(%{{.*}}: tensor<4x4xf32> {mlc.name = "x", mlc.sample}, {{.*}}mlc.state = "weight/w"}) -> (tensor<4x4xf32> {mlc.name = "0F/a"})
// CUT: func.func @"1F"({{.*}}{mlc.name = "0F/a", mlc.role = "carried"}, {{.*}}mlc.state = "weight/w"}) -> (tensor<f32> {mlc.name = "loss"}, tensor<4x4xf32> {mlc.name = "1F/b"})
// CUT: func.func @"0B"({{.*}}mlc.name = "keep", mlc.role = "keep"}, %{{.*}}: tensor<4x4xf32> {mlc.name = "1B/b", mlc.role = "carried"}, %{{[^,]*}}, mlc.state = "gradient/w"}) -> (tensor<4x4xf32> {{[^,]*}}, mlc.state = "gradient/w"})
// CUT: func.func @"1B"({{.*}}mlc.state = "gradient/w@1"}) -> (tensor<4x4xf32> {mlc.state = "gradient/w@1"}, tensor<4x4xf32> {mlc.name = "1B/b"}) {
// CUT: func.func @"1NORM"({{.*}}) -> (tensor<4x4xf32> {mlc.name = "1NORM/gradient/w@1"})
// CUT: func.func @"0STEP"({{.*}}) -> (tensor<4x4xf32> {mlc.state = "weight/w"}, tensor<4x4xf32> {mlc.state = "momentum/w"}, tensor<4x4xf32> {mlc.name = "0STEP/compute"})
// CUT: func.func @"1STEP"(%[[NEW:.*]]: tensor<4x4xf32> {mlc.name = "0STEP/compute", mlc.role = "carried"}) -> (tensor<4x4xf32> {mlc.state = "weight/w"}) {
// CUT-NEXT: return %[[NEW]]
// CUT-NOT: dist.stage

// Of the second stage, the gradient for the first does not wait for that of the
// weight.
// SPLIT: func.func @"0F"
// SPLIT: func.func @"1F"
// SPLIT: func.func @"1I"
// SPLIT-SAME: -> (tensor<4x4xf32> {mlc.name = "1I/b"}, tensor<4x4xf32> {mlc.name = "1I/d"})
// SPLIT: func.func @"0W"
// SPLIT: func.func @"1W"
// SPLIT-SAME: gradient/w@1

// PROVED: proved

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
