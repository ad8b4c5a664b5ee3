// Every engine by its name; one that does not exist is refused.
// RUN: mlc-opt --mlc-apply-rules="target=cpu:x86-64-v3 search=egraph" %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlc-verify --function=sum %s %t.mlir | FileCheck --check-prefix=PROOF %s
// RUN: mlc-opt --mlc-apply-rules="target=cpu:x86-64-v3 search=greedy" %s | FileCheck %s
// RUN: mlc-opt --mlc-apply-rules="target=cpu:x86-64-v3 search=backtracking" %s | FileCheck %s
// RUN: not mlc-opt --mlc-apply-rules=search=annealing %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s

// PROOF: proved
// UNKNOWN: there is no search engine annealing

!x = tensor<?x8x?x16xf32, #mlc.dims<[N, 8, H, 16]>>

// CHECK-LABEL: func.func @sum
// CHECK-COUNT-1: mlc.conv
// CHECK-NOT: mlc.conv
// CHECK: mlc.relu
// CHECK-NOT: mlc.relu
func.func @sum(%x: !x) -> !x {
  %v = mlc.constant dense<0.5> : tensor<8x8x3x3xf32>
  %w = mlc.constant dense<0.25> : tensor<8x8x3x3xf32>
  %0 = mlc.conv %x, %v {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<8x8x3x3xf32>) -> !x
  %1 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[1, 1, 1, 1]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x, tensor<8x8x3x3xf32>) -> !x
  %2 = mlc.add %0, %1 : (!x, !x) -> !x
  %3 = mlc.relu %2 : (!x) -> !x
  %4 = mlc.relu %3 : (!x) -> !x
  return %4 : !x
}
