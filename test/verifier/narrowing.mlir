// Where a side rounds to a narrower type by a cast, what differs as real numbers
// may be equal as floats; such numbers refute nothing.
// RUN: split-file %s %t
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %t/equal.mlir | FileCheck %s --check-prefix=EQUAL
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify %t/different.mlir | FileCheck %s --check-prefix=DIFFERENT
// EQUAL: unknown
// DIFFERENT: refuted

//--- equal.mlir
!h = tensor<?xf16, #mlc.dims<[n]>>
!f = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !h) -> !h {
  %0 = mlc.mul %x, %x : (!h, !h) -> !h
  return %0 : !h
}
func.func @after(%x: !h) -> !h {
  %0 = mlc.mul %x, %x : (!h, !h) -> !h
  %1 = mlc.cast %0 {to = f32} : (!h) -> !f
  %2 = mlc.cast %1 {to = f16} : (!f) -> !h
  return %2 : !h
}
//--- different.mlir
!h = tensor<?xf16, #mlc.dims<[n]>>
!f = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !f) -> !h {
  %0 = mlc.mul %x, %x : (!f, !f) -> !f
  %1 = mlc.cast %0 {to = f16} : (!f) -> !h
  return %1 : !h
}
func.func @after(%x: !f) -> !h {
  %0 = mlc.add %x, %x : (!f, !f) -> !f
  %1 = mlc.cast %0 {to = f16} : (!f) -> !h
  return %1 : !h
}
