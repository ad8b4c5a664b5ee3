// An unknown verdict names what one side has and the other lacks, as that side
// writes it: a minimum is a maximum in normal form, a comparison a sign.
// RUN: split-file %s %t
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %t/functions.mlir | FileCheck %s --check-prefix=FUNCTIONS
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %t/order.mlir | FileCheck %s --check-prefix=ORDER
// FUNCTIONS: unknown: result 0: {{.*}}(only before has cos)
// ORDER: unknown: result 0: {{.*}}(only before has %x, >, cos, min, sin)

//--- functions.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !x) -> !x {
  %s = mlc.sin %x : (!x) -> !x
  %c = mlc.cos %x : (!x) -> !x
  %p = mlc.mul %s, %c : (!x, !x) -> !x
  %r = mlc.add %p, %p : (!x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %t = mlc.add %x, %x : (!x, !x) -> !x
  %r = mlc.sin %t : (!x) -> !x
  return %r : !x
}
//--- order.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
!c = tensor<?xi1, #mlc.dims<[n]>>
func.func @before(%x: !x) -> !x {
  %s = mlc.sin %x : (!x) -> !x
  %c = mlc.cos %x : (!x) -> !x
  %s2 = mlc.mul %s, %s : (!x, !x) -> !x
  %c2 = mlc.mul %c, %c : (!x, !x) -> !x
  %one = mlc.add %s2, %c2 : (!x, !x) -> !x
  %most = mlc.fill {dims = #mlc.dims<[n]>, type = f32, value = #mlc.real<1.5>} : () -> !x
  %min = mlc.min %one, %most : (!x, !x) -> !x
  %more = mlc.compare %s, %most {predicate = "gt"} : (!x, !x) -> !c
  %r = mlc.select %more, %x, %min : (!c, !x, !x) -> !x
  return %r : !x
}
func.func @after(%x: !x) -> !x {
  %r = mlc.fill {dims = #mlc.dims<[n]>, type = f32, value = #mlc.real<1.0>} : () -> !x
  return %r : !x
}
