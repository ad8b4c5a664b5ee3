// A parameter is a number of the type that it fills, within its bounds.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!i = tensor<?xi32, #mlc.dims<[n]>>

//--- refuted: 3 is not 0, of an i32 either
func.func @b(%x: !i) -> !i attributes {mlc.assume = ["real t == 3.0"]} {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = i32} : () -> !i
  %1 = mlc.add %x, %0 : (!i, !i) -> !i
  return %1 : !i
}
func.func @a(%x: !i) -> !i {
  return %x : !i
}
//--- proved: an i32 that is 3
func.func @b(%x: !i) -> !i attributes {mlc.assume = ["real t == 3.0"]} {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = i32} : () -> !i
  %1 = mlc.mul %x, %0 : (!i, !i) -> !i
  return %1 : !i
}
func.func @a(%x: !i) -> !i {
  %0 = mlc.add %x, %x : (!i, !i) -> !i
  %1 = mlc.add %0, %x : (!i, !i) -> !i
  return %1 : !i
}
//--- unknown: no number is 1 and 2
func.func @b(%x: !x) -> !x attributes {mlc.assume = ["real t == 1.0", "real t == 2.0"]} {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32} : () -> !x
  %1 = mlc.mul %x, %0 : (!x, !x) -> !x
  return %1 : !x
}
func.func @a(%x: !x) -> !x {
  return %x : !x
}
//--- unknown: no number is above 2 and below 1
func.func @b(%x: !x) -> !x attributes {mlc.assume = ["real t > 2.0", "real t < 1.0"]} {
  return %x : !x
}
func.func @a(%x: !x) -> !x {
  return %x : !x
}
//--- unknown: no i32 lies between 0 and 1
func.func @b(%x: !i) -> !i attributes {mlc.assume = ["real t > 0.0", "real t < 1.0"]} {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = i32} : () -> !i
  %1 = mlc.add %x, %0 : (!i, !i) -> !i
  return %1 : !i
}
func.func @a(%x: !i) -> !i {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = i32} : () -> !i
  %1 = mlc.add %0, %x : (!i, !i) -> !i
  return %1 : !i
}
//--- proved: a narrow range of a factor that is positive
func.func @b(%x: !x) -> !x attributes {mlc.assume = ["real t > 0.0", "real t < 0.1"]} {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32} : () -> !x
  %1 = mlc.mul %x, %0 : (!x, !x) -> !x
  %2 = mlc.relu %1 : (!x) -> !x
  return %2 : !x
}
func.func @a(%x: !x) -> !x {
  %0 = mlc.relu %x : (!x) -> !x
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32} : () -> !x
  %2 = mlc.mul %0, %1 : (!x, !x) -> !x
  return %2 : !x
}
//--- proved: 0.1 of an f32 is the f32 nearest to it
func.func @b(%x: !x) -> !x attributes {mlc.assume = ["real t == 0.1"]} {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<t>, type = f32} : () -> !x
  %1 = mlc.add %x, %0 : (!x, !x) -> !x
  return %1 : !x
}
func.func @a(%x: !x) -> !x {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.10000000149011612>, type = f32} : () -> !x
  %1 = mlc.add %0, %x : (!x, !x) -> !x
  return %1 : !x
}
//--- not proved: 0.1 of an f32 is no tenth of 1 of an f64
func.func @b(%x: tensor<?xf64, #mlc.dims<[n]>>) -> tensor<?xf64, #mlc.dims<[n]>> {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.1>, type = f32} : () -> !x
  %1 = mlc.cast %0 {to = f64} : (!x) -> tensor<?xf64, #mlc.dims<[n]>>
  %2 = mlc.add %x, %1 : (tensor<?xf64, #mlc.dims<[n]>>, tensor<?xf64, #mlc.dims<[n]>>) -> tensor<?xf64, #mlc.dims<[n]>>
  return %2 : tensor<?xf64, #mlc.dims<[n]>>
}
func.func @a(%x: tensor<?xf64, #mlc.dims<[n]>>) -> tensor<?xf64, #mlc.dims<[n]>> {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.1>, type = f64} : () -> tensor<?xf64, #mlc.dims<[n]>>
  %1 = mlc.add %x, %0 : (tensor<?xf64, #mlc.dims<[n]>>, tensor<?xf64, #mlc.dims<[n]>>) -> tensor<?xf64, #mlc.dims<[n]>>
  return %1 : tensor<?xf64, #mlc.dims<[n]>>
}
//--- not proved: after takes one element, before any number
func.func @b(%x: !x) -> tensor<1xf32> {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
//--- proved: where the one element is assumed
func.func @b(%x: !x) -> tensor<1xf32> attributes {mlc.assume = ["n == 1"]} {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
//--- not proved: after takes arguments of one size, before of two
func.func @b(%x: !x, %y: tensor<?xf32, #mlc.dims<[m]>>) -> !x {
  return %x : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  return %x : !x
}
//--- proved: after takes more than before
func.func @b(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
