// What is read again at the end is computed again instead of being kept: of six
// buffers of 16,384 bytes four would be alive at one time, and three must be.
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse --mlc-rematerialize=budget=49152 %s | FileCheck %s
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse --mlc-rematerialize %s | FileCheck %s --check-prefix=FREE
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse --mlc-rematerialize=budget=65536 %s | FileCheck %s --check-prefix=FREE
// RUN: not mlc-opt --mlc-lower-to-linalg --mlc-fuse --mlc-rematerialize=budget=49151 %s 2>&1 | FileCheck %s --check-prefix=LOW
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s -- --mlc-lower-to-linalg --mlc-fuse --mlc-rematerialize=budget=49152 %}

// CHECK: exec.launch @[[K:.+]](%[[X:.+]], %[[W:.+]]) -> (%[[A:.+]]) args
// CHECK: exec.launch @{{.+}}(%[[A]], %[[W]]) -> (%[[B:.+]]) args
// CHECK: exec.launch @{{.+}}(%[[B]], %[[W]]) -> (%[[C:.+]]) args
// CHECK: exec.launch @{{.+}}(%[[C]], %[[W]]) -> (%[[D:.+]]) args
// CHECK: exec.launch @{{.+}}(%[[D]], %[[B]]) -> (%[[E:.+]]) args
// CHECK: exec.launch @[[K]](%[[X]], %[[W]]) -> (%[[AGAIN:.+]]) args
// CHECK: exec.launch @{{.+}}(%[[E]], %[[AGAIN]]) -> (%[[F:.+]]) args
// CHECK-NOT: exec.launch
// CHECK: exec.output "y" %[[F]]

// FREE-COUNT-6: exec.launch
// FREE-NOT: exec.launch

// LOW: error: a memory budget of 49151 bytes (0.05 MiB) is below what any order of the steps needs, 49152 bytes (0.05 MiB)

func.func @main(%x: tensor<64x64xf32> {mlc.name = "x"}, %w: tensor<64x64xf32> {mlc.name = "w"}) -> (tensor<64x64xf32> {mlc.name = "y"}) {
  %a = mlc.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = mlc.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = mlc.matmul %b, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = mlc.matmul %c, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = mlc.matmul %d, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = mlc.matmul %e, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %f : tensor<64x64xf32>
}
