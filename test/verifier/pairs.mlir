// RUN: split-file %s %t
// RUN: mlc-verify %t/equal.mlir | FileCheck %s --check-prefix=EQUAL
// RUN: mlc-verify --json %t/equal.mlir | FileCheck %s --check-prefix=JSON
// RUN: mlc-verify %t/equal.mlir --certificate=%t/lemmas.smt2 && FileCheck %s --check-prefix=LEMMAS < %t/lemmas.smt2
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify %t/different.mlir | FileCheck %s --check-prefix=DIFFERENT
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify --json %t/different.mlir | FileCheck %s --check-prefix=DIFFERENT-JSON
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %t/beyond.mlir | FileCheck %s --check-prefix=BEYOND
// RUN: %python %source/test/verifier/exit_code.py 3 mlc-verify %t/broken.mlir 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: %python %source/test/verifier/exit_code.py 3 mlc-verify %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: %python %source/test/verifier/exit_code.py 3 mlc-verify %t/assume.mlir 2>&1 | FileCheck %s --check-prefix=ASSUME
// RUN: %python %source/test/verifier/exit_code.py 2 mlc-verify --no-such-option %t/equal.mlir 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: %python %source/test/verifier/exit_code.py 2 mlc-verify --effort=0 %t/equal.mlir 2>&1 | FileCheck %s --check-prefix=EFFORT
// RUN: mlc-verify --help | FileCheck %s --check-prefix=HELP

// EQUAL: proved ({{.*}} lemmas)
// JSON: "float_class":
// JSON: "verdict": "proved"
// LEMMAS: (check-sat)
// DIFFERENT: refuted
// DIFFERENT: element [{{.*}}] of result 0: {{.*}} before, {{.*}} after
// DIFFERENT-JSON: "counterexample"
// BEYOND: unknown: 'linalg.softmax' is beyond the verifier
// BROKEN: broken.mlir
// MISSING: mlc: error: {{.*}}missing.mlir: cannot be read
// ASSUME: must compare two integer expressions
// USAGE: mlc: error:
// EFFORT: mlc: error: --effort: expected a factor above 0, up to 1000
// HELP: --certificate
// HELP-NOT: --debug-only

//--- equal.mlir
!x = tensor<?x?xf32, #mlc.dims<[n, k]>>
!w = tensor<?x?xf32, #mlc.dims<[k, m]>>
!y = tensor<?x?xf32, #mlc.dims<[n, m]>>
!xh = tensor<?x?xf32, #mlc.dims<[n, h]>>
!xr = tensor<?x?xf32, #mlc.dims<[n, k - h]>>
!wh = tensor<?x?xf32, #mlc.dims<[h, m]>>
!wr = tensor<?x?xf32, #mlc.dims<[k - h, m]>>
func.func @whole(%x: !x, %w: !w) -> !y attributes {mlc.assume = ["h <= k"]} {
  %0 = mlc.matmul %x, %w : (!x, !w) -> !y
  return %0 : !y
}
func.func @in_two_parts(%x: !x, %w: !w) -> !y {
  %0 = mlc.slice %x {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[n, h]>, steps = #mlc.dims<[1, 1]>} : (!x) -> !xh
  %1 = mlc.slice %x {starts = #mlc.dims<[0, h]>, sizes = #mlc.dims<[n, k - h]>, steps = #mlc.dims<[1, 1]>} : (!x) -> !xr
  %2 = mlc.slice %w {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[h, m]>, steps = #mlc.dims<[1, 1]>} : (!w) -> !wh
  %3 = mlc.slice %w {starts = #mlc.dims<[h, 0]>, sizes = #mlc.dims<[k - h, m]>, steps = #mlc.dims<[1, 1]>} : (!w) -> !wr
  %4 = mlc.matmul %0, %2 : (!xh, !wh) -> !y
  %5 = mlc.matmul %1, %3 : (!xr, !wr) -> !y
  %6 = mlc.add %4, %5 : (!y, !y) -> !y
  return %6 : !y
}
//--- different.mlir
!x = tensor<?x?xf32, #mlc.dims<[n, n]>>
func.func @one(%x: !x) -> !x {
  %0 = mlc.matmul %x, %x : (!x, !x) -> !x
  return %0 : !x
}
func.func @other(%x: !x) -> !x {
  %0 = mlc.mul %x, %x : (!x, !x) -> !x
  return %0 : !x
}
//--- beyond.mlir
func.func @one(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}
//--- broken.mlir
func.func @one(
//--- assume.mlir
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mlc.assume = ["n is odd"]} {
  return %x : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
