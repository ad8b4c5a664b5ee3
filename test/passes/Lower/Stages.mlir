// Definitions of several stages: reductions and what uses them.
// RUN: mlc-opt --mlc-lower-to-linalg %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s N=3 -- --mlc-lower-to-linalg --mlc-fuse %}
// RUN: mlc-opt --mlc-lower-to-linalg %s -o %t.mlir
// RUN: mlc-verify --function=softmax %s %t.mlir | FileCheck %s --check-prefix=PROOF
// RUN: mlc-verify --function=bn %s %t.mlir | FileCheck %s --check-prefix=PROOF
// PROOF: proved

// Four stages: maximum, exponentials, sum, quotient.
// CHECK-LABEL: func.func @softmax
// CHECK: arith.maximumf
// CHECK: tensor<4x1xf32>
// CHECK: math.exp
// CHECK: tensor<4x1000xf32>
// CHECK: arith.addf
// CHECK: tensor<4x1xf32>
// CHECK: arith.divf
func.func @softmax(%x: tensor<4x1000xf32>) -> tensor<4x1000xf32> {
  %0 = mlc.softmax %x {axis = 1 : i64} : (tensor<4x1000xf32>) -> tensor<4x1000xf32>
  return %0 : tensor<4x1000xf32>
}

// CHECK-LABEL: func.func @bn
// CHECK: math.sqrt
// CHECK: tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
func.func @bn(%x: tensor<1x8x4x4xf32>, %s: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  %0 = mlc.batch_norm %x, %s, %s, %s, %s {epsilon = #mlc.real<1.0e-5>} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: %[[N:[a-z0-9]+]]: index)
// CHECK: tensor.empty(%[[N]])
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: math.sqrt
func.func @layer_norm(%x: tensor<?x7xf32, #mlc.dims<[N, 7]>>, %s: tensor<7xf32>) -> tensor<?x7xf32, #mlc.dims<[N, 7]>> {
  %0 = mlc.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = #mlc.real<1.0e-5>} : (tensor<?x7xf32, #mlc.dims<[N, 7]>>, tensor<7xf32>, tensor<7xf32>) -> tensor<?x7xf32, #mlc.dims<[N, 7]>>
  return %0 : tensor<?x7xf32, #mlc.dims<[N, 7]>>
}
