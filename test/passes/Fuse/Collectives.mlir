// Collectives in programs: begun as early as their operands are there, waited for before the first reader.
// RUN: mlc-opt %s --mlc-lower-to-linalg --mlc-fuse | FileCheck %s

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {

// Both operands are written where they are sent from, and kernels that need no sum run before the wait.
// CHECK-LABEL: exec.program @sum
// CHECK: %[[X:.+]] = exec.input 0
// CHECK: %[[JOINT:.+]] = exec.alloc : f32 <[32]>
// CHECK: %[[A:.+]] = exec.alias %[[JOINT]][#mlc.int<0>] : f32 <[3, 5]>
// CHECK: exec.launch @{{.+}}(%[[X]]) -> (%[[A]])
// CHECK: %[[B:.+]] = exec.alias %[[JOINT]][#mlc.int<64>] : f32 <[7]>
// CHECK: exec.launch @{{.+}} -> (%[[B]])
// CHECK: exec.start 0 "all_reduce" over "data"(%[[JOINT]]) -> (%[[JOINT]]) args <[32]> reduction "sum"
// CHECK: exec.launch @{{.+}}(%[[X]]) -> (%[[M:.+]]) args
// CHECK: exec.wait 0(%[[JOINT]]) -> (%[[JOINT]])
// CHECK: exec.launch @{{.+}}(%[[A]], %[[M]])
// CHECK: exec.output "y"
// CHECK: exec.output "b" %[[B]]
func.func @sum(%x: tensor<3x5xf32> {mlc.name = "x"}, %v: tensor<7xf32> {mlc.name = "v"}) -> (tensor<3x3xf32> {mlc.name = "y"}, tensor<7xf32> {mlc.name = "b"}) {
  %a = mlc.mul %x, %x : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %r:2 = dist.all_reduce %a, %v {axis = #dist.axis<"data", 4>, reduction = "sum"} : (tensor<3x5xf32>, tensor<7xf32>) -> (tensor<3x5xf32>, tensor<7xf32>)
  %t = mlc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %m = mlc.exp %t : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = mlc.matmul %r#0, %m : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
  return %y, %r#1 : tensor<3x3xf32>, tensor<7xf32>
}

// Who else reads the operand reads it as it was: what is summed is a copy.
// CHECK-LABEL: exec.program @shared
// CHECK: exec.launch @{{.+}} -> (%[[A:.+]], %[[COPY:.+]]) args
// CHECK: exec.start 0 "all_reduce" over "data"(%[[COPY]]) -> (%[[COPY]])
// CHECK: exec.wait 0
// CHECK: exec.output "a" %[[A]]
// CHECK: exec.output "r" %[[COPY]]
func.func @shared(%x: tensor<4xf32> {mlc.name = "x"}) -> (tensor<4xf32> {mlc.name = "a"}, tensor<4xf32> {mlc.name = "r"}) {
  %a = mlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = dist.all_reduce %a {axis = #dist.axis<"data", 4>, reduction = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %r : tensor<4xf32>, tensor<4xf32>
}

// A state of which each rank has a part, whose sizes differ.
// CHECK-LABEL: exec.program @state
// CHECK: exec.coordinate "rank.data" on "data"
// CHECK: %[[W:.+]] = exec.state "w" = dense<1.000000e+00> : tensor<7xf32> : f32 <[floordiv({{.+}}, 4){{.*}}]> split {{\[\["data"\]\]}} of [7]
// CHECK: %[[V:.+]] = exec.alias %[[W]][#mlc.int<0>]
// CHECK: exec.start 0 "all_gather" over "data"(%[[V]]) -> (%[[Z:.+]]) args <[7, 1]>
// CHECK: exec.wait 0(%[[V]]) -> (%[[Z]])
func.func @state(%w: tensor<?xf32, #mlc.dims<[floordiv(10 - rank.data, 4)]>> {mlc.state = "w", mlc.initial = dense<1.0> : tensor<7xf32>, dist.sharding = #dist.sharding<["data"]>}) -> (tensor<7xf32> {mlc.name = "z"}) {
  %z = dist.all_gather %w {axis = #dist.axis<"data", 4>, dims = array<i64: 0>, extents = #mlc.dims<[7]>, units = #mlc.dims<[1]>} : (tensor<?xf32, #mlc.dims<[floordiv(10 - rank.data, 4)]>>) -> tensor<7xf32>
  return %z : tensor<7xf32>
}

}
