// RUN: mlc-opt %s --mlc-pin="mesh=a=2 shard=first=-:a" --mlc-shard="mesh=a=2" --mlc-partition | FileCheck %s --check-prefix=COLUMNS
// RUN: mlc-opt %s --mlc-pin="mesh=a=2 shard=first=a,second=-" --mlc-shard="mesh=a=2" --mlc-partition | FileCheck %s --check-prefix=ROWS
// RUN: mlc-opt %s --mlc-pin="mesh=a=2 shard=first=a leaves=a" --mlc-shard="mesh=a=2" --mlc-partition | FileCheck %s --check-prefix=WHOLE
// RUN: mlc-opt %s --mlc-pin="mesh=a=2 shard=w=-:a" --mlc-shard="mesh=a=2" --mlc-partition | FileCheck %s --check-prefix=WHOLE
// RUN: not mlc-opt %s --mlc-pin="mesh=a=2 shard=first=-:-:a" 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: the result of 'first' has 2 dims, and its sharding says how 3 are split

// What is pinned is computed in parts of whole operands; readers take the parts as they are.
// COLUMNS: mlc.slice
// COLUMNS: mlc.matmul %{{.*}} : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
// COLUMNS: mlc.matmul %{{.*}} : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
// COLUMNS: dist.all_reduce
// COLUMNS-NOT: dist.pin
// A pin without an axis: the gathered whole, not parts of it.
// ROWS: mlc.matmul %{{.*}} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
// ROWS: dist.all_gather
// WHOLE-NOT: mlc.slice
// WHOLE: mlc.matmul %{{.*}} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
// WHOLE-NOT: dist.all

// The program of two ranks gives what one gives.
// RUN: mlc-opt %s --mlc-pin="mesh=a=2 shard=first=-:a" --mlc-shard="mesh=a=2" --mlc-partition --mlc-stack-ranks -o %t.mlir
// RUN: mlc-verify %s %t.mlir | FileCheck %s --check-prefix=PROVED
// PROVED: proved
func.func @main(%x: tensor<8x4xf32> {mlc.name = "x"}, %w: tensor<4x6xf32> {mlc.name = "w"},
    %v: tensor<6x2xf32> {mlc.name = "v"}) -> (tensor<8x2xf32> {mlc.name = "y"}) {
  %0 = mlc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("first")
  %1 = mlc.matmul %0, %v : (tensor<8x6xf32>, tensor<6x2xf32>) -> tensor<8x2xf32> loc("second")
  return %1 : tensor<8x2xf32>
}
