// Elements that move: pieces, boxes, permutations, gathers.
// RUN: mlc-opt --mlc-lower-to-linalg %s | FileCheck %s
// RUN: %if x86-64-v3 %{ %python %S/../execute.py %s N=3 -- --mlc-lower-to-linalg --mlc-fuse %}

// CHECK-DAG: #[[TRANSPOSED:.+]] = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
// CHECK-DAG: #[[REVERSED:.+]] = affine_map<(d0, d1, d2) -> (d0, -d1 + 2, d2)>
// CHECK-LABEL: func.func @moves
// CHECK: tensor.insert_slice %{{.+}}[0, 0, 0] [2, 3, 4] [1, 1, 1]
// CHECK: tensor.insert_slice %{{.+}}[2, 0, 0] [%{{.+}}, 3, 4] [1, 1, 1]
// CHECK: tensor.collapse_shape %{{.+}} {{\[\[}}0], [1, 2]]
// CHECK: tensor.extract_slice %{{.+}}[1, 0, 0] [1, 2, 4] [1, 2, 1]
// CHECK: linalg.generic {indexing_maps = [#[[TRANSPOSED]]
// Reflection is no affine index.
// CHECK: linalg.index
// CHECK: tensor.extract
// CHECK: linalg.generic {indexing_maps = [#[[REVERSED]]
// An index from data is clamped before it is used.
// CHECK: %[[I:.+]] = arith.index_cast %{{.+}} : i64 to index
// CHECK: arith.minsi
// CHECK: %[[C:.+]] = arith.maxsi
// CHECK: tensor.extract %{{.+}}[%[[C]], %{{.+}}, %{{.+}}]
func.func @moves(%x: tensor<2x3x4xf32>, %y: tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> (tensor<?x3x4xf32, #mlc.dims<[N + 2, 3, 4]>>, tensor<2x12xf32>, tensor<1x2x4xf32>, tensor<4x3x2xf32>, tensor<2x5x4xf32>,tensor<2x3x4xf32>, tensor<5x3x4xf32>) {
  %0 = mlc.concat %x, %y {axis = 0 : i64} : (tensor<2x3x4xf32>, tensor<?x3x4xf32, #mlc.dims<[N, 3, 4]>>) -> tensor<?x3x4xf32, #mlc.dims<[N + 2, 3, 4]>>
  %1 = mlc.reshape %x {dims = #mlc.dims<[2, 12]>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %2 = mlc.slice %x {starts = #mlc.dims<[1, 0, 0]>, sizes = #mlc.dims<[1, 2, 4]>, steps = #mlc.dims<[1,2,1]>} : (tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
  %3 = mlc.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %4 = mlc.pad %x {low = #mlc.dims<[0, 1, 0]>, high = #mlc.dims<[0, 1, 0]>, mode = "reflect", value = #mlc.real<0.0>} : (tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
  %5 = mlc.reverse %x {axes = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %6 = mlc.constant dense<[0, 1, -1, 0, 1]> : tensor<5xi64>
  %7 = mlc.gather %x, %6 {axis = 0 : i64} : (tensor<2x3x4xf32>, tensor<5xi64>) -> tensor<5x3x4xf32>
  return %0, %1, %2, %3, %4, %5, %7 : tensor<?x3x4xf32, #mlc.dims<[N + 2, 3, 4]>>, tensor<2x12xf32>, tensor<1x2x4xf32>, tensor<4x3x2xf32>, tensor<2x5x4xf32>,tensor<2x3x4xf32>, tensor<5x3x4xf32>
}

// Where nothing is put need be no place: the end of a tensor is none.
// CHECK-LABEL: func.func @empty_at_the_end
// CHECK: tensor.insert_slice %arg0
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @empty_at_the_end(%a: tensor<5xi64>, %b: tensor<0xi64>) -> tensor<5xi64> {
  %y = mlc.concat %a, %b {axis = 0 : i64} : (tensor<5xi64>, tensor<0xi64>) -> tensor<5xi64>
  return %y : tensor<5xi64>
}
