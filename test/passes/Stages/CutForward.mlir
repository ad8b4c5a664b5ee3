// RUN: mlc-opt %s --mlc-assign-stages="ends=a,c" --mlc-cut-forward="micro-batches=4" -o %t.cut.mlir
// RUN: FileCheck %s --check-prefix=CUT < %t.cut.mlir
// The stages are the model.
// RUN: mlc-opt %s --mlc-join-stages -o %t.whole.mlir
// RUN: mlc-opt %t.cut.mlir --mlc-join-stages -o %t.joined.mlir
// RUN: mlc-verify %t.whole.mlir %t.joined.mlir | FileCheck %s --check-prefix=PROVED
// Wrong ones are not: here the last stage multiplies by another value.
// RUN: sed '/@"2F"/,/return/s/mlc.add/mlc.mul/' %t.cut.mlir > %t.wrong.mlir
// RUN: mlc-opt %t.wrong.mlir --mlc-join-stages -o %t.wrong.joined.mlir
// RUN: not mlc-verify %t.whole.mlir %t.wrong.joined.mlir
// RUN: mlc-opt %s --mlc-assign-stages="stages=2" -o %t.assigned.mlir
// RUN: sed 's/dist.stage = 1 : i64/dist.stage = 2 : i64/' %t.assigned.mlir > %t.gap.mlir
// RUN: not mlc-opt %t.gap.mlir --mlc-cut-forward 2>&1 | FileCheck %s --check-prefix=GAP
// RUN: sed 's/dist.stage = 1 : i64/dist.stage = -1 : i64/' %t.assigned.mlir > %t.negative.mlir
// RUN: not mlc-opt %t.negative.mlir --mlc-cut-forward 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: sed 's/mlc.softmax %d {axis = 1/mlc.softmax %d {axis = 0/' %s | not mlc-opt --mlc-assign-stages --mlc-cut-forward="micro-batches=4" 2>&1 | FileCheck %s --check-prefix=MIXES
// RUN: sed 's/mlc.softmax %d {axis = 1/mlc.softmax %d {axis = 0/' %s | mlc-opt --mlc-assign-stages --mlc-cut-forward -o /dev/null
// RUN: sed 's/mlc.name = "u"/mlc.state = "u"/' %s | not mlc-opt --mlc-assign-stages --mlc-cut-forward 2>&1 | FileCheck %s --check-prefix=STATE
// RUN: echo 'module {}' | not mlc-opt --mlc-cut-forward 2>&1 | FileCheck %s --check-prefix=NONE
// GAP: has no operators of stage 1
// NEGATIVE: has -1 : i64 as dist.stage, which is an i64 from 0 to 4095
// MIXES: 'mlc.softmax' op cannot be carried out in micro-batches: it mixes samples
// STATE: has the state 'u', and stages of a model without training have constants alone
// NONE: has no function @main of one block to cut into stages
// PROVED: proved

// What constants alone give is made where it is read, and what skips a stage is
// read from the first.
// CUT: mlc.pipeline = {inputs = [{divided = true, name = "x", type = tensor<?x4xf32, #mlc.dims<[N, 4]>>}, {divided = true, name = "u"{{.*}}}, {divided = false, name = "shared"{{.*}}}], outputs = [{divided = true, name = "y"{{.*}}}, {divided = true, name = "z"{{.*}}}]}
// CUT-NOT: @main
// CUT: func.func @"0F"(%{{[^:]*}}: tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "x"}) -> (tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "0F/a"}) {
// CUT: mlc.matmul
// CUT: func.func @"1F"(%{{[^:]*}}: tensor<1x4xf32> {mlc.name = "shared"}, %{{[^:]*}}: tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "0F/a", mlc.role = "carried"}) -> (tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "z"}, tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "1F/c"}) {
// CUT: mlc.tanh
// CUT: func.func @"2F"({{.*}}{mlc.name = "u"}, {{.*}}{mlc.name = "1F/c", mlc.role = "carried"}, {{.*}}{mlc.name = "0F/a", mlc.role = "carried"}) -> (tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "y"}) {
// CUT: mlc.exp
// CUT-NOT: dist.stage

func.func @main(%x: tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "x"},
                %u: tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "u"},
                %s: tensor<1x4xf32> {mlc.name = "shared"})
    -> (tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "y"}, tensor<?x4xf32, #mlc.dims<[N, 4]>> {mlc.name = "z"}) {
  %w = mlc.constant dense<2.0> : tensor<4x4xf32>
  %t = mlc.exp %w : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = mlc.matmul %x, %t : (tensor<?x4xf32, #mlc.dims<[N, 4]>>, tensor<4x4xf32>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("a")
  %b = mlc.broadcast %s {dims = #mlc.dims<[N, 4]>} : (tensor<1x4xf32>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("b")
  %c = mlc.add %a, %b : (tensor<?x4xf32, #mlc.dims<[N, 4]>>, tensor<?x4xf32, #mlc.dims<[N, 4]>>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("c")
  %z = mlc.tanh %c : (tensor<?x4xf32, #mlc.dims<[N, 4]>>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("c")
  %d = mlc.matmul %c, %t : (tensor<?x4xf32, #mlc.dims<[N, 4]>>, tensor<4x4xf32>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("d")
  %e = mlc.softmax %d {axis = 1 : i64} : (tensor<?x4xf32, #mlc.dims<[N, 4]>>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("e")
  %f = mlc.add %e, %a : (tensor<?x4xf32, #mlc.dims<[N, 4]>>, tensor<?x4xf32, #mlc.dims<[N, 4]>>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("f")
  %y = mlc.mul %f, %u : (tensor<?x4xf32, #mlc.dims<[N, 4]>>, tensor<?x4xf32, #mlc.dims<[N, 4]>>) -> tensor<?x4xf32, #mlc.dims<[N, 4]>> loc("g")
  return %y, %z : tensor<?x4xf32, #mlc.dims<[N, 4]>>, tensor<?x4xf32, #mlc.dims<[N, 4]>>
}
