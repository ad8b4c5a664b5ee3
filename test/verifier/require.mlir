// What a function requires of sizes is shown where it stands behind, and not assumed where it stands before.
// RUN: split-file %s %t
// RUN: mlc-verify %t/holds.mlir | FileCheck %s --check-prefix=HOLDS
// RUN: not mlc-verify %t/fails.mlir | FileCheck %s --check-prefix=FAILS
// RUN: not mlc-verify %t/before.mlir | FileCheck %s --check-prefix=BEFORE
// RUN: not mlc-verify %t/text.mlir | FileCheck %s --check-prefix=TEXT
// RUN: not mlc-verify %t/divides.mlir | FileCheck %s --check-prefix=DIVIDES
// RUN: not mlc-verify %t/list.mlir | FileCheck %s --check-prefix=LIST

// HOLDS: proved
// FAILS: refuted
// FAILS: n = {{[01]$}}
// FAILS: what the function requires
// BEFORE: refuted
// TEXT: unknown: 'n is even' must compare two integer expressions
// DIVIDES: unknown: '2 divides n' must compare two integer expressions
// LIST: unknown: mlc.require must be an array of strings

//--- holds.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @one(%x: !x) -> !x attributes {mlc.assume = ["n >= 3"]} { return %x : !x }
func.func @other(%x: !x) -> !x attributes {mlc.require = ["n >= 2", "2 * n > 5"]} { return %x : !x }
//--- fails.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @one(%x: !x) -> !x { return %x : !x }
func.func @other(%x: !x) -> !x attributes {mlc.require = ["n >= 2"]} { return %x : !x }
//--- before.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @one(%x: !x) -> !x attributes {mlc.require = ["n <= 0"]} { return %x : !x }
func.func @other(%x: !x) -> !x {
  %y = mlc.neg %x : (!x) -> !x
  return %y : !x
}
//--- text.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @one(%x: !x) -> !x { return %x : !x }
func.func @other(%x: !x) -> !x attributes {mlc.require = ["n is even"]} { return %x : !x }
//--- divides.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @one(%x: !x) -> !x { return %x : !x }
func.func @other(%x: !x) -> !x attributes {mlc.require = ["2 divides n"]} { return %x : !x }
//--- list.mlir
!x = tensor<?xf32, #mlc.dims<[n]>>
func.func @one(%x: !x) -> !x { return %x : !x }
func.func @other(%x: !x) -> !x attributes {mlc.require = "n >= 1"} { return %x : !x }
