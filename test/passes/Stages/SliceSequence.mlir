// RUN: mlc-opt %s --mlc-assign-stages="stages=2" --mlc-slice-sequence="slices=2" | FileCheck %s
// RUN: not mlc-opt %s --mlc-slice-sequence="slices=3" 2>&1 | FileCheck %s --check-prefix=DIVISOR
// RUN: not mlc-opt %s --mlc-slice-sequence="slices=0" 2>&1 | FileCheck %s --check-prefix=NONE
// A mask that shows a later position, hides a position from itself, or hides too little.
// RUN: sed 's/0.0, 0.0, 0.0, -1.0e9/0.0, 0.0, 0.0, 0.0/' %s > %t.shown.mlir
// RUN: not mlc-opt %t.shown.mlir --mlc-slice-sequence 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: sed 's/0.0, 0.0, 0.0, -1.0e9/0.0, 0.0, -1.0e9, -1.0e9/' %s > %t.itself.mlir
// RUN: not mlc-opt %t.itself.mlir --mlc-slice-sequence 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: sed 's/0.0, 0.0, 0.0, -1.0e9/0.0, 0.0, 0.0, -1.0e2/' %s > %t.little.mlir
// RUN: not mlc-opt %t.little.mlir --mlc-slice-sequence 2>&1 | FileCheck %s --check-prefix=MASK
// The softmax is over the positions that look, not over those that are looked at.
// RUN: sed 's/mlc.softmax %masked {axis = 2/mlc.softmax %masked {axis = 1/' %s > %t.axis.mlir
// RUN: not mlc-opt %t.axis.mlir --mlc-slice-sequence 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: sed 's/mlc.tanh %x/mlc.softmax %x {axis = 1 : i64}/' %s > %t.rows.mlir
// RUN: not mlc-opt %t.rows.mlir --mlc-slice-sequence 2>&1 | FileCheck %s --check-prefix=ROWS

// DIVISOR: 3 slices do not divide sequences of 4 positions; give a divisor
// NONE: no slices
// MASK: 'mlc.softmax' op cannot be carried out for slices of a sequence: nothing shows that a mask hides later positions from it
// AXIS: 'mlc.softmax' op cannot be carried out for slices of a sequence: it mixes positions
// ROWS: 'mlc.softmax' op cannot be carried out for slices of a sequence: it mixes positions

// Both slices of the first stage; the keys and values of the first one see zeros instead of the second's.
// CHECK: %[[X0:.*]] = mlc.slice %[[X:[^ ]*]] {dist.stage = 0 : i64, sizes = #mlc.dims<[1, 2, 8]>, starts = #mlc.dims<[0, 0, 0]>
// CHECK: %[[X1:.*]] = mlc.slice %[[X]] {dist.stage = 1 : i64, sizes = #mlc.dims<[1, 2, 8]>, starts = #mlc.dims<[0, 2, 0]>
// CHECK: %[[H0:.*]] = mlc.tanh %[[X0]] {dist.stage = 0 : i64} : (tensor<1x2x8xf32>)
// CHECK: %[[H1:.*]] = mlc.tanh %[[X1]] {dist.stage = 1 : i64}
// CHECK: mlc.transpose %[[H0]]
// CHECK: mlc.concat %{{.*}}, %{{.*}} {axis = 2 : i64, dist.stage = [[S:[0-9]+]] : i64} : (tensor<1x8x2xf32>, tensor<1x8x2xf32>)
// CHECK: mlc.matmul {{.*}} : (tensor<1x2x8xf32>, tensor<1x8x4xf32>) -> tensor<1x2x4xf32>
// CHECK: mlc.softmax {{.*}} : (tensor<1x2x4xf32>)
// CHECK: mlc.concat %{{.*}}, %{{.*}} {axis = 1 : i64, dist.stage = {{[0-9]+}} : i64} : (tensor<1x2x8xf32>, tensor<1x2x8xf32>)
// CHECK: mlc.reshape %[[W:[^ ]*]] {dims = #mlc.dims<[1, 8, 8]>, dist.stage = 2 : i64}
// CHECK: mlc.reshape %[[W]] {dims = #mlc.dims<[1, 8, 8]>, dist.stage = 3 : i64}
// CHECK: %[[Y:.*]] = mlc.concat %{{.*}}, %{{.*}} {axis = 1 : i64, dist.stage = 3 : i64} : (tensor<1x2x8xf32>, tensor<1x2x8xf32>) -> tensor<1x4x8xf32>
// CHECK-NEXT: return %[[Y]]

func.func @main(%x: tensor<1x4x8xf32> {mlc.name = "x"},
                %w: tensor<8x8xf32> {mlc.name = "w", mlc.parameter = dense<0.5> : tensor<8x8xf32>})
    -> (tensor<1x4x8xf32> {mlc.name = "y"}) {
  %h = mlc.tanh %x : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %keys = mlc.transpose %h {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x8xf32>) -> tensor<1x8x4xf32>
  %scores = mlc.matmul %h, %keys : (tensor<1x4x8xf32>, tensor<1x8x4xf32>) -> tensor<1x4x4xf32>
  %mask = mlc.constant dense<[[[0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0, 0.0]]]> : tensor<1x4x4xf32>
  %masked = mlc.add %scores, %mask : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %shares = mlc.softmax %masked {axis = 2 : i64} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %seen = mlc.matmul %shares, %h : (tensor<1x4x4xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %own = mlc.reshape %w {dims = #mlc.dims<[1, 8, 8]>} : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %y = mlc.matmul %seen, %own : (tensor<1x4x8xf32>, tensor<1x8x8xf32>) -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}
