// A factor that is repeated for each of a batch has one product for its gradient: the batch is summed within it.
// RUN: mlc-opt %s --mlc-differentiate=function=dense --canonicalize | FileCheck %s
// RUN: mlc-opt %s --mlc-differentiate=function=heads --canonicalize | FileCheck %s --check-prefix=HEADS
// RUN: mlc-opt %s --mlc-differentiate=function=rows --canonicalize | FileCheck %s --check-prefix=ROWS
// RUN: mlc-opt %s --mlc-differentiate=function=dense -o %t.mlir
// RUN: mlc-verify %t.mlir --gradient-of=dense --gradient=dense_gradient | FileCheck %s --check-prefix=JUDGE
// RUN: mlc-opt %s --mlc-differentiate=function=heads -o %t.mlir
// RUN: mlc-verify %t.mlir --gradient-of=heads --gradient=heads_gradient | FileCheck %s --check-prefix=JUDGE
// RUN: mlc-opt %s --mlc-differentiate=function=rows -o %t.mlir
// RUN: mlc-verify %t.mlir --gradient-of=rows --gradient=rows_gradient | FileCheck %s --check-prefix=JUDGE
// JUDGE: proved

// CHECK-LABEL: func.func @dense_gradient(
// CHECK-SAME: %[[X:.*]]: tensor<4x6x5xf32>, %{{.*}}: tensor<1x5x7xf32>, %[[D:.*]]: tensor<4x6x7xf32>)
// CHECK: %[[XS:.*]] = mlc.reshape %[[X]] {{.*}} -> tensor<24x5xf32>
// CHECK: %[[XT:.*]] = mlc.transpose %[[XS]] {{.*}} -> tensor<5x24xf32>
// CHECK: %[[DS:.*]] = mlc.reshape %[[D]] {{.*}} -> tensor<24x7xf32>
// CHECK: %[[P:.*]] = mlc.matmul %[[XT]], %[[DS]]
// CHECK: %[[DW:.*]] = mlc.reshape %[[P]] {{.*}} -> tensor<1x5x7xf32>
// CHECK: return %{{.*}}, %[[DW]]
func.func @dense(%x: tensor<4x6x5xf32>, %w: tensor<1x5x7xf32>) -> tensor<4x6x7xf32> {
  %b = mlc.broadcast %w {dims = #mlc.dims<[4, 5, 7]>} : (tensor<1x5x7xf32>) -> tensor<4x5x7xf32>
  %y = mlc.matmul %x, %b : (tensor<4x6x5xf32>, tensor<4x5x7xf32>) -> tensor<4x6x7xf32>
  return %y : tensor<4x6x7xf32>
}

// The heads stay a batch; the samples, whose dim is not beside that of the sum, are moved there.
// HEADS-LABEL: func.func @heads_gradient(
// HEADS-DAG: mlc.reshape {{.*}} -> tensor<3x5x12xf32>
// HEADS-DAG: mlc.reshape {{.*}} -> tensor<3x12x7xf32>
// HEADS: mlc.matmul {{.*}} -> tensor<3x5x7xf32>
func.func @heads(%x: tensor<2x3x6x5xf32>, %w: tensor<1x3x5x7xf32>) -> tensor<2x3x6x7xf32> {
  %b = mlc.broadcast %w {dims = #mlc.dims<[2, 3, 5, 7]>} : (tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %y = mlc.matmul %x, %b : (tensor<2x3x6x5xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x6x7xf32>
  return %y : tensor<2x3x6x7xf32>
}

// The left factor, and sizes that are open.
// ROWS-LABEL: func.func @rows_gradient(
// ROWS: mlc.matmul {{.*}} -> tensor<?x?xf32, #mlc.dims<[m, k]>>
func.func @rows(%w: tensor<1x?x?xf32, #mlc.dims<[1, m, k]>>, %x: tensor<?x?x?xf32, #mlc.dims<[b, k, n]>>) -> tensor<?x?x?xf32, #mlc.dims<[b, m, n]>> {
  %a = mlc.broadcast %w {dims = #mlc.dims<[b, m, k]>} : (tensor<1x?x?xf32, #mlc.dims<[1, m, k]>>) -> tensor<?x?x?xf32, #mlc.dims<[b, m, k]>>
  %y = mlc.matmul %a, %x : (tensor<?x?x?xf32, #mlc.dims<[b, m, k]>>, tensor<?x?x?xf32, #mlc.dims<[b, k, n]>>) -> tensor<?x?x?xf32, #mlc.dims<[b, m, n]>>
  return %y : tensor<?x?x?xf32, #mlc.dims<[b, m, n]>>
}
