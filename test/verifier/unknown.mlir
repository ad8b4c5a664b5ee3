// An unknown verdict names what one side has and the other lacks.
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %s | FileCheck %s
// CHECK: unknown: result 0: {{.*}}(only before has %x, cos, sin)
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !x) -> !x {
  %s = mlc.sin %x : (!x) -> !x
  %c = mlc.cos %x : (!x) -> !x
  %s2 = mlc.mul %s, %s : (!x, !x) -> !x
  %c2 = mlc.mul %c, %c : (!x, !x) -> !x
  %r = mlc.add %s2, %c2 : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.fill {dims = #mlc.dims<[n]>, type = f32, value = #mlc.real<1.0>} : () -> !x
  return %r : !x
}
