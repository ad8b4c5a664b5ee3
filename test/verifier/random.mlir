// Random bits are a function of a key and a counter like any other, in definitions and in code: what lowers them is
// proved, another seed refuted.
// RUN: mlc-opt --mlc-lower-to-linalg %s -o %t.mlir
// RUN: mlc-verify %s %t.mlir | FileCheck %s
// RUN: sed 's/arith.constant 7 : i64/arith.constant 8 : i64/' %t.mlir > %t-seed.mlir
// RUN: not mlc-verify %s %t-seed.mlir | FileCheck %s --check-prefix=SEED

// CHECK: proved (bit-exact
// SEED: refuted

func.func @main(%x: tensor<i64>) -> tensor<6x10xf32> {
  %s = mlc.cast %x {to = ui64} : (tensor<i64>) -> tensor<ui64>
  %0 = mlc.random_uniform %s {dims = #mlc.dims<[6, 10]>, seed = 7 : i64, type = f32} : (tensor<ui64>) -> tensor<6x10xf32>
  return %0 : tensor<6x10xf32>
}
