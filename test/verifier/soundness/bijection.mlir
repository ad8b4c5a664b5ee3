// Sums whose terms are paired by a map that leaves out points.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!one = tensor<1xf32>

//--- proved: a sum is the sum of its first element and the rest
func.func @b(%x: !x) -> !one attributes {mlc.assume = ["n >= 8"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> !one
  return %0 : !one
}
func.func @a(%x: !x) -> !one {
  %0 = mlc.slice %x {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n - 1]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[n - 1]>>
  %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n - 1]>>) -> !one
  %2 = mlc.slice %x {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[1]>, steps = #mlc.dims<[1]>} : (!x) -> !one
  %3 = mlc.add %2, %1 : (!one, !one) -> !one
  return %3 : !one
}
