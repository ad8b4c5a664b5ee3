// Products that read one tensor are one launch where the back end joins their kernels.
//
// RUN: split-file %s %t
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse=target=cuda:sm_90a --mlc-join-siblings=target=cuda:sm_90a %t/Joined.mlir | FileCheck %t/Joined.mlir
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse=target=cuda:sm_80 --mlc-join-siblings=target=cuda:sm_80 %t/Joined.mlir | FileCheck %t/Joined.mlir --check-prefix=APART
// RUN: mlc-opt --mlc-lower-to-linalg --mlc-fuse --mlc-join-siblings %t/Joined.mlir | FileCheck %t/Joined.mlir --check-prefix=APART
// RUN: not mlc-opt --mlc-join-siblings=target=cuda:sm_90a %t/Bad.mlir 2>&1 | FileCheck %t/Bad.mlir
//
// test/cuda/test_warpgroups.py runs such kernels.

//--- Joined.mlir
// The third reads a result of the first, so it stays.
// CHECK: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0
// CHECK: %[[A:.*]] = exec.alloc
// CHECK: %[[B:.*]] = exec.alloc
// CHECK: exec.launch @[[BOTH:.*]](%[[X]], %{{.*}}, %{{.*}}) -> (%[[A]], %[[B]]){{.*}}work
// CHECK: exec.launch @{{.*}}(%[[A]],
// CHECK-NOT: exec.launch
// CHECK: func.func private @[[BOTH]](%{{.*}}: tensor<128x256xf16>, %{{.*}}: tensor<256x128xf16>, %{{.*}}: tensor<256x128xf16>)
// CHECK-SAME: -> (tensor<128x128xf16>, tensor<128x128xf16>) attributes {mlc.kernel, mlc.siblings = array<i64: 1, 1>
// APART-COUNT-3: exec.launch
// APART-NOT: mlc.siblings
func.func @main(%x: tensor<128x256xf16>, %v: tensor<256x128xf16>, %w: tensor<256x128xf16>, %u: tensor<128x128xf16>)
    -> (tensor<128x128xf16>, tensor<128x128xf16>) {
  %a = mlc.matmul %x, %v : (tensor<128x256xf16>, tensor<256x128xf16>) -> tensor<128x128xf16>
  %b = mlc.matmul %x, %w : (tensor<128x256xf16>, tensor<256x128xf16>) -> tensor<128x128xf16>
  %c = mlc.matmul %a, %u : (tensor<128x128xf16>, tensor<128x128xf16>) -> tensor<128x128xf16>
  return %b, %c : tensor<128x128xf16>, tensor<128x128xf16>
}

//--- Bad.mlir
// CHECK: error: mlc.siblings must be the numbers of results of at least two siblings, which are all results
exec.program @main {
  %0 = exec.input 0 : f32 <[4]> {name = "x"}
  %1 = exec.alloc : f32 <[4]> {name = "y"}
  exec.launch @k(%0) -> (%1) args <[]> nodes []
  %2 = exec.alloc : f32 <[4]> {name = "z"}
  exec.launch @k(%0) -> (%2) args <[]> nodes []
}
func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mlc.kernel, mlc.siblings = array<i64: 1, 1>, mlc.symbols = []} {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
