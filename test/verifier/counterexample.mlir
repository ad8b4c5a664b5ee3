// A counterexample shows the first elements of its arguments and how many more
// there are; as JSON it has all of them. Integers keep their digits.
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify %s | FileCheck %s
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify --json %s | %python %source/test/verifier/counterexample.py
// CHECK: refuted
// CHECK: %x [5x6] = {{(([0-9.-]+), ){24}([.])}}.. (6 more elements){{$}}
// CHECK: %i [2x3] = {{([0-9-]+, )+[0-9-]+$}}
!x = tensor<5x6xf32>
!i = tensor<2x3xi64>
func.func @before(%x: !x, %i: !i) -> (!x, !i) {
  return %x, %i : !x, !i
}
func.func @after(%x: !x, %i: !i) -> (!x, !i) {
  %0 = mlc.exp %x : (!x) -> !x
  return %0, %i : !x, !i
}
