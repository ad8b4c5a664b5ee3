// RUN: mlc-opt %s --mlc-assign-stages="ends=c" --mlc-add-training-step="loss=output states=true apart=true" --mlc-cut-stages=recompute=true -o %t.cut.mlir
// RUN: FileCheck %s < %t.cut.mlir
// RUN: mlc-opt %s --mlc-assign-stages="ends=c" --mlc-add-training-step="loss=output states=true apart=true" --mlc-cut-stages="recompute=true keep-results=b" | FileCheck %s --check-prefix=KEEP
// A step that computes again is the step.
// RUN: mlc-opt %s --mlc-add-training-step="loss=output states=true apart=true" --mlc-join-stages -o %t.whole.mlir
// RUN: mlc-opt %t.cut.mlir --mlc-join-stages -o %t.joined.mlir
// RUN: mlc-verify %t.whole.mlir %t.joined.mlir | FileCheck %s --check-prefix=PROVED
// What is computed again is part of it.
// RUN: sed '/@"0B"/,/return/s/mlc.tanh/mlc.relu/' %t.cut.mlir > %t.wrong.mlir
// RUN: mlc-opt %t.wrong.mlir --mlc-join-stages -o %t.wrong.joined.mlir
// RUN: not mlc-verify %t.whole.mlir %t.wrong.joined.mlir
// RUN: not mlc-opt %s --mlc-assign-stages="ends=c" --mlc-add-training-step="loss=output states=true apart=true" --mlc-cut-stages="recompute=true keep-results=b,nobody*" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: no node is called 'nobody*', whose result a backward pass would find

// The first stage gives the second its result, and keeps nothing else.
// CHECK: func.func @"0F"
// CHECK-SAME: -> (tensor<4x4xf32> {mlc.name = "0F/c"}) {
// Its gradients compute again what they need, right before it is read: not c.
// CHECK: func.func @"0B"(%[[X:[^:]*]]: tensor<4x4xf32> {mlc.name = "x"
// CHECK-NOT: 0F/
// CHECK-NOT: return
// CHECK: %[[A:.*]] = mlc.matmul %[[X]], %{{.*}}
// CHECK-NEXT: %[[B:.*]] = mlc.tanh %[[A]]
// CHECK-NOT: mlc.sigmoid
// CHECK: return

// With b kept, nothing is computed again before it.
// KEEP: func.func @"0F"
// KEEP-SAME: -> (tensor<4x4xf32> {mlc.name = "0F/c"}, tensor<4x4xf32> {mlc.name = "0F/b"}) {
// KEEP: func.func @"0B"
// KEEP-SAME: mlc.name = "0F/b", mlc.role = "carried"
// KEEP-NOT: mlc.tanh
// KEEP: return

// PROVED: proved

func.func @main(%x: tensor<4x4xf32> {mlc.name = "x"},
                %w: tensor<4x4xf32> {mlc.name = "w", mlc.parameter = dense<0.0> : tensor<4x4xf32>},
                %v: tensor<4x4xf32> {mlc.name = "v", mlc.parameter = dense<0.0> : tensor<4x4xf32>})
    -> (tensor<f32> {mlc.name = "y"}) {
  %a = mlc.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %b = mlc.tanh %a : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("b")
  %c = mlc.matmul %b, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("c")
  %s = mlc.sigmoid %c : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("s")
  %d = mlc.reduce %s {axes = array<i64: 0, 1>, kind = "sum"} : (tensor<4x4xf32>) -> tensor<1x1xf32> loc("d")
  %y = mlc.reshape %d {dims = #mlc.dims<[]>} : (tensor<1x1xf32>) -> tensor<f32> loc("y")
  return %y : tensor<f32>
}
