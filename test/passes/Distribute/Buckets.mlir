// RUN: mlc-opt %s --mlc-bucket="bucket-bytes=64" --split-input-file | FileCheck %s
// RUN: mlc-opt %s --mlc-bucket="bucket-bytes=64 first-bucket-bytes=16" --split-input-file | FileCheck %s --check-prefix=FIRST
// RUN: mlc-opt %s --mlc-bucket="bucket-bytes=64 fusion=horovod" --split-input-file | FileCheck %s --check-prefix=HOROVOD
// RUN: mlc-opt %s --mlc-bucket --split-input-file | FileCheck %s --check-prefix=DEFAULT
// RUN: not mlc-opt %s --mlc-bucket="fusion=none" --split-input-file 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: there is no fusion 'none'; give ddp or horovod

// Gradients of 16, 48, 32 and 32 bytes, in this order; what reads them stands
// behind all of them, in the order of the weights, which is the other.
// A bucket is full at its limit or beyond it.
// CHECK-LABEL: func.func @order(
// CHECK: %[[G0:.*]] = mlc.exp %arg0
// CHECK-NEXT: %[[G1:.*]] = mlc.exp %arg1
// CHECK-NEXT: %[[R0:.*]]:2 = dist.all_reduce %[[G0]], %[[G1]]
// CHECK-NEXT: %[[G2:.*]] = mlc.exp %arg2
// CHECK-NEXT: %[[G3:.*]] = mlc.exp %arg3
// CHECK-NEXT: %[[R1:.*]]:2 = dist.all_reduce %[[G2]], %[[G3]]
// Who waits for the first bucket does not wait for the second.
// CHECK-NEXT: mlc.neg %[[R0]]#1
// CHECK-NEXT: mlc.neg %[[R0]]#0
// CHECK-NEXT: mlc.neg %[[R1]]#1
// CHECK-NEXT: mlc.neg %[[R1]]#0
// FIRST-LABEL: func.func @order(
// FIRST: %[[G0:.*]] = mlc.exp %arg0
// FIRST-NEXT: %[[R0:.*]] = dist.all_reduce %[[G0]]
// FIRST-NEXT: %[[G1:.*]] = mlc.exp %arg1
// FIRST-NEXT: %[[G2:.*]] = mlc.exp %arg2
// FIRST-NEXT: %[[R1:.*]]:2 = dist.all_reduce %[[G1]], %[[G2]]
// FIRST-NEXT: %[[G3:.*]] = mlc.exp %arg3
// FIRST-NEXT: %[[R2:.*]] = dist.all_reduce %[[G3]]
// HOROVOD-LABEL: func.func @order(
// HOROVOD: %[[R0:.*]]:2 = dist.all_reduce {{.*}} (tensor<4xf32>, tensor<12xf32>)
// HOROVOD: %[[R1:.*]]:2 = dist.all_reduce {{.*}} (tensor<8xf32>, tensor<8xf32>)
// DEFAULT-LABEL: func.func @order(
// DEFAULT: dist.all_reduce {{.*}} (tensor<4xf32>, tensor<12xf32>, tensor<8xf32>, tensor<8xf32>)
// DEFAULT-NOT: dist.all_reduce
func.func @order(%x0: tensor<4xf32>, %x1: tensor<12xf32>, %x2: tensor<8xf32>, %x3: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<12xf32>, tensor<4xf32>) {
  %g0 = mlc.exp %x0 : (tensor<4xf32>) -> tensor<4xf32>
  %g1 = mlc.exp %x1 : (tensor<12xf32>) -> tensor<12xf32>
  %g2 = mlc.exp %x2 : (tensor<8xf32>) -> tensor<8xf32>
  %g3 = mlc.exp %x3 : (tensor<8xf32>) -> tensor<8xf32>
  %r3 = dist.all_reduce %g3 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<8xf32>) -> tensor<8xf32>
  %u3 = mlc.neg %r3 : (tensor<8xf32>) -> tensor<8xf32>
  %r2 = dist.all_reduce %g2 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<8xf32>) -> tensor<8xf32>
  %u2 = mlc.neg %r2 : (tensor<8xf32>) -> tensor<8xf32>
  %r1 = dist.all_reduce %g1 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<12xf32>) -> tensor<12xf32>
  %u1 = mlc.neg %r1 : (tensor<12xf32>) -> tensor<12xf32>
  %r0 = dist.all_reduce %g0 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %u0 = mlc.neg %r0 : (tensor<4xf32>) -> tensor<4xf32>
  return %u3, %u2, %u1, %u0 : tensor<8xf32>, tensor<8xf32>, tensor<12xf32>, tensor<4xf32>
}

// -----

// A bucket is of one type of elements, and of one axis. Horovod looks behind
// what does not fit for what does.
// DEFAULT-LABEL: func.func @kinds(
// CHECK-LABEL: func.func @kinds(
// CHECK: dist.all_reduce {{.*}} (tensor<4xf32>, tensor<12xf32>)
// CHECK: dist.all_reduce {{.*}}"model"{{.*}} (tensor<4xf32>) -> tensor<4xf32>
// CHECK: dist.all_reduce {{.*}} (tensor<4xf16>, tensor<4xf16>)
// HOROVOD-LABEL: func.func @kinds(
// HOROVOD: dist.all_reduce {{.*}} (tensor<4xf32>, tensor<12xf32>)
// HOROVOD: dist.all_reduce {{.*}} (tensor<4xf16>, tensor<4xf16>)
// HOROVOD: dist.all_reduce {{.*}}"model"{{.*}} (tensor<4xf32>) -> tensor<4xf32>
func.func @kinds(%x0: tensor<4xf32>, %x1: tensor<4xf16>, %x2: tensor<12xf32>, %x3: tensor<4xf16>, %x4: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf16>, tensor<12xf32>, tensor<4xf16>, tensor<4xf32>) {
  %g0 = mlc.exp %x0 : (tensor<4xf32>) -> tensor<4xf32>
  %g1 = mlc.exp %x1 : (tensor<4xf16>) -> tensor<4xf16>
  %g2 = mlc.exp %x2 : (tensor<12xf32>) -> tensor<12xf32>
  %g4 = mlc.exp %x4 : (tensor<4xf32>) -> tensor<4xf32>
  %g3 = mlc.exp %x3 : (tensor<4xf16>) -> tensor<4xf16>
  %r0 = dist.all_reduce %g0 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %r1 = dist.all_reduce %g1 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf16>) -> tensor<4xf16>
  %r2 = dist.all_reduce %g2 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<12xf32>) -> tensor<12xf32>
  %r3 = dist.all_reduce %g3 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf16>) -> tensor<4xf16>
  %r4 = dist.all_reduce %g4 {axis = #dist.axis<"model", 2>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %u0 = mlc.neg %r0 : (tensor<4xf32>) -> tensor<4xf32>
  %u1 = mlc.neg %r1 : (tensor<4xf16>) -> tensor<4xf16>
  %u2 = mlc.neg %r2 : (tensor<12xf32>) -> tensor<12xf32>
  %u3 = mlc.neg %r3 : (tensor<4xf16>) -> tensor<4xf16>
  %u4 = mlc.neg %r4 : (tensor<4xf32>) -> tensor<4xf32>
  return %u0, %u1, %u2, %u3, %u4 : tensor<4xf32>, tensor<4xf16>, tensor<12xf32>, tensor<4xf16>, tensor<4xf32>
}

// -----

// A mean of the batch, which the gradient depends on, a loss that is only
// returned, and a norm of the gradients stay where they are.
// CHECK-LABEL: func.func @others(
// CHECK: %[[MEAN:.*]] = dist.all_reduce %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[G0:.*]] = mlc.sub %{{.*}}, %[[MEAN]]
// CHECK: %[[LOSS:.*]] = dist.all_reduce %{{.*}} : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[G1:.*]] = mlc.neg %[[G0]]
// CHECK-NEXT: %[[R:.*]]:2 = dist.all_reduce %[[G0]], %[[G1]]
// CHECK-NEXT: mlc.reduce %[[R]]#0
// CHECK-NEXT: %[[NORM:.*]] = dist.all_reduce %{{.*}} : (tensor<1xf32>) -> tensor<1xf32>
func.func @others(%x: tensor<4xf32>) -> (tensor<1xf32> {mlc.name = "loss"}, tensor<4xf32>, tensor<4xf32>) {
  %0 = mlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce %0 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
  %3 = dist.all_reduce %2 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<1xf32>) -> tensor<1xf32>
  %4 = mlc.sub %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = dist.all_reduce %4 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %6 = mlc.reduce %5 {kind = "sum", axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
  %7 = dist.all_reduce %6 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<1xf32>) -> tensor<1xf32>
  %n = mlc.broadcast %7 {dims = #mlc.dims<[4]>} : (tensor<1xf32>) -> tensor<4xf32>
  %8 = mlc.mul %5, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = mlc.neg %4 : (tensor<4xf32>) -> tensor<4xf32>
  %10 = dist.all_reduce %9 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %11 = mlc.mul %10, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %8, %11 : tensor<1xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What only changes a gradient's form goes to where the gradient is, so that
// the bucket need not wait.
// CHECK-LABEL: func.func @forms(
// CHECK: %[[G0:.*]] = mlc.matmul
// CHECK-NEXT: %[[S:.*]] = mlc.broadcast %arg2
// CHECK-NEXT: %[[S0:.*]] = mlc.mul %[[G0]], %[[S]]
// CHECK-NEXT: %[[T0:.*]] = mlc.transpose %[[S0]]
// CHECK-NEXT: %[[R0:.*]] = dist.all_reduce %[[T0]]
// CHECK-NEXT: mlc.matmul
func.func @forms(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %scale: tensor<1x1xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = mlc.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g0 = mlc.matmul %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = mlc.matmul %y, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = mlc.broadcast %scale {dims = #mlc.dims<[4, 4]>} : (tensor<1x1xf32>) -> tensor<4x4xf32>
  %s0 = mlc.mul %g0, %s : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s1 = mlc.mul %g1, %s : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t0 = mlc.transpose %s0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = dist.all_reduce %t0 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = dist.all_reduce %s1 {axis = #dist.axis<"data", 2>, reduction = "sum"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u0 = mlc.neg %r0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u1 = mlc.neg %r1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %u0, %u1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Gradients of which each rank gets its part, along dims of their own.
// CHECK-LABEL: func.func @parts(
// CHECK: dist.reduce_scatter %{{.*}}, %{{.*}} {{.*}}dims = array<i64: 0, 1>, extents = #mlc.dims<[4, 2]>, {{.*}}units = #mlc.dims<[1, 3]>
func.func @parts(%x0: tensor<4xf32>, %x1: tensor<3x6xf32>) -> (tensor<2xf32>, tensor<3x3xf32>) {
  %g0 = mlc.exp %x0 : (tensor<4xf32>) -> tensor<4xf32>
  %g1 = mlc.exp %x1 : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %r0 = dist.reduce_scatter %g0 {axis = #dist.axis<"data", 2>, dims = array<i64: 0>, extents = #mlc.dims<[4]>, units = #mlc.dims<[1]>, reduction = "sum"} : (tensor<4xf32>) -> tensor<2xf32>
  %r1 = dist.reduce_scatter %g1 {axis = #dist.axis<"data", 2>, dims = array<i64: 1>, extents = #mlc.dims<[2]>, units = #mlc.dims<[3]>, reduction = "sum"} : (tensor<3x6xf32>) -> tensor<3x3xf32>
  %u0 = mlc.neg %r0 : (tensor<2xf32>) -> tensor<2xf32>
  %u1 = mlc.neg %r1 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %u0, %u1 : tensor<2xf32>, tensor<3x3xf32>
}
