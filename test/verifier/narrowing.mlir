// Where a side rounds to a narrower type by a cast, what differs as real numbers
// may be equal as floats; such numbers refute nothing. Every operator rounds its
// result, whatever follows it.
// RUN: split-file %s %t
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %t/equal.mlir | FileCheck %s --check-prefix=EQUAL
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify %t/different.mlir | FileCheck %s --check-prefix=DIFFERENT
// RUN: %python %source/test/verifier/exit_code.py 6 mlc-verify %t/equal-between.mlir | FileCheck %s --check-prefix=EQUAL
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify %t/square-bf16.mlir | FileCheck %s --check-prefix=DIFFERENT
// RUN: %python %source/test/verifier/exit_code.py 5 mlc-verify %t/square-f16.mlir | FileCheck %s --check-prefix=DIFFERENT
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
//--- equal-between.mlir
!h = tensor<?xf16, #mlc.dims<[n]>>
!f = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !h) -> !f {
  %0 = mlc.mul %x, %x : (!h, !h) -> !h
  %1 = mlc.cast %0 {to = f32} : (!h) -> !f
  return %1 : !f
}
func.func @after(%x: !h) -> !f {
  %0 = mlc.cast %x {to = f32} : (!h) -> !f
  %1 = mlc.mul %0, %0 : (!f, !f) -> !f
  %2 = mlc.cast %1 {to = f16} : (!f) -> !h
  %3 = mlc.cast %2 {to = f32} : (!h) -> !f
  return %3 : !f
}
//--- square-bf16.mlir
!b = tensor<?xbf16, #mlc.dims<[n]>>
!f = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !f) -> !f {
  %0 = mlc.mul %x, %x : (!f, !f) -> !f
  return %0 : !f
}
func.func @after(%x: !f) -> !f {
  %0 = mlc.mul %x, %x : (!f, !f) -> !f
  %1 = mlc.cast %0 {to = bf16} : (!f) -> !b
  %2 = mlc.cast %1 {to = f32} : (!b) -> !f
  return %2 : !f
}
//--- square-f16.mlir
!h = tensor<?xf16, #mlc.dims<[n]>>
!f = tensor<?xf32, #mlc.dims<[n]>>
func.func @before(%x: !f) -> !f {
  %0 = mlc.mul %x, %x : (!f, !f) -> !f
  return %0 : !f
}
func.func @after(%x: !f) -> !f {
  %0 = mlc.mul %x, %x : (!f, !f) -> !f
  %1 = mlc.cast %0 {to = f16} : (!f) -> !h
  %2 = mlc.cast %1 {to = f32} : (!h) -> !f
  return %2 : !f
}
