// RUN: mlc-opt %s --mlc-shard="mesh=a=2,b=2 shard=x=a:-,w*=-:b" | FileCheck %s
// RUN: mlc-opt %s --mlc-shard="mesh=a=2,b=2 shard=x=a:-,w*=-:b" --mlc-partition | FileCheck %s --check-prefix=RANK
// RUN: not mlc-opt %s --mlc-shard="mesh=a shard=x=a" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not mlc-opt %s --mlc-shard="mesh=a=2 shard=x" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not mlc-opt %s --mlc-shard="mesh=a=2 shard=x=b" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mlc-opt %s --mlc-shard="mesh=a=2 shard=x=-:-:a" 2>&1 | FileCheck %s --check-prefix=DIMS
// MESH: the axis 'a' of a mesh is not AXIS=N, N >= 1
// TEXT: the sharding 'x' is not NAME=AXIS:...
// UNKNOWN: the sharding 'x=b': 'b' is no axis of the mesh
// RUN: mlc-opt %s --mlc-shard="mesh=a=2,b=2 shard=x=a+b:-" | FileCheck %s --check-prefix=BOTH
// RUN: not mlc-opt %s --mlc-shard="mesh=a=2,b=2 shard=x=b+a" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: the sharding 'x=b+a': 'b' stands before 'a'; give them in the order of the mesh, a+b
// BOTH: {dist.sharding = #dist.sharding<{{\[\["a", "b"\], ""\]}}>, mlc.name = "x"}
// DIMS: 'x' has 2 dims, and the sharding of 'x' says how 3 are split

// A parameter of which something is said is a state; other outputs are whole.
// CHECK: module attributes {dist.mesh = [#dist.axis<"a", 2>, #dist.axis<"b", 2>]}
// CHECK: func.func @main(
// CHECK-SAME: {dist.sharding = #dist.sharding<["a", ""]>, mlc.name = "x"}
// CHECK-SAME: {dist.sharding = #dist.sharding<["", "b"]>, mlc.initial = dense<5.000000e-01> : tensor<4x2xf32>, mlc.name = "w", mlc.state = "w"}
// CHECK-SAME: tensor<3xf32> {mlc.name = "u", mlc.parameter
// CHECK-SAME: -> (tensor<8x2xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.name = "y"}

// RANK: func.func @main(%{{.*}}: tensor<4x4xf32>
// RANK: dist.all_gather
// RANK: dist.all_gather
func.func @main(%x: tensor<8x4xf32> {mlc.name = "x"},
    %w: tensor<4x2xf32> {mlc.name = "w", mlc.parameter = dense<0.5> : tensor<4x2xf32>},
    %u: tensor<3xf32> {mlc.name = "u", mlc.parameter = dense<0.5> : tensor<3xf32>})
    -> (tensor<8x2xf32> {mlc.name = "y"}, tensor<3xf32> {mlc.name = "z"}) {
  %y = mlc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %z = mlc.relu %u : (tensor<3xf32>) -> tensor<3xf32>
  return %y, %z : tensor<8x2xf32>, tensor<3xf32>
}
