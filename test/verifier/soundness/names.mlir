// Names of dims and parameters that look like what the verifier names itself, or like SMT-LIB.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!n = tensor<?xf32, #mlc.dims<[n]>>

//--- not proved: h = 150, quotient0 = 1: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<[quotient0]>>
!z = tensor<?xf32, #mlc.dims<[2 * quotient0]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * quotient0]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: h = 150, quotient1 = 1: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<[quotient1]>>
!z = tensor<?xf32, #mlc.dims<[2 * quotient1]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * quotient1]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<["%quotient0"]>>
!z = tensor<?xf32, #mlc.dims<[2 * "%quotient0"]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * "%quotient0"]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<["%0"]>>
!z = tensor<?xf32, #mlc.dims<[2 * "%0"]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * "%0"]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<["%1"]>>
!z = tensor<?xf32, #mlc.dims<[2 * "%1"]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * "%1"]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: h = 150, q0 = 1: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<[q0]>>
!z = tensor<?xf32, #mlc.dims<[2 * q0]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * q0]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<["!q0"]>>
!z = tensor<?xf32, #mlc.dims<[2 * "!q0"]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * "!q0"]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: h = 150, s0 = 1: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<[s0]>>
!z = tensor<?xf32, #mlc.dims<[2 * s0]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * s0]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: h = 150, s1 = 1: 150 and 2 elements
!x = tensor<?xf32, #mlc.dims<[h]>>
!y = tensor<?xf32, #mlc.dims<[s1]>>
!z = tensor<?xf32, #mlc.dims<[2 * s1]>>
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["2 divides h"]} {
  %0 = mlc.fill {dims = #mlc.dims<[h]>, value = #mlc.real<1.0>, type = f32} : () -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !y) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[2 * s1]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: the second dim is another
!y = tensor<?xf32, #mlc.dims<[arg0_d0]>>
func.func @b(%x: tensor<?xf32>, %y: !y) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>, %y: !y) -> !y {
  return %y : !y
}

//--- not proved: sums over two sizes
!y = tensor<?xf32, #mlc.dims<[arg0_d0]>>
func.func @b(%x: tensor<?xf32>, %y: !y) -> !y {
  %0 = mlc.fill {dims = #mlc.dims<[arg0_d0]>, value = #mlc.real<1.0>, type = f32} : () -> !y
  return %0 : !y
}
func.func @a(%x: tensor<?xf32>, %y: !y) -> tensor<?xf32> {
  %c = arith.constant dense<1.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%c : tensor<f32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    linalg.yield %a : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

//--- not proved: the second dim is another
!y = tensor<?xf32, #mlc.dims<["%arg0_d0"]>>
func.func @b(%x: tensor<?xf32>, %y: !y) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>, %y: !y) -> !y {
  return %y : !y
}

//--- not proved: sums over two sizes
!y = tensor<?xf32, #mlc.dims<["%arg0_d0"]>>
func.func @b(%x: tensor<?xf32>, %y: !y) -> !y {
  %0 = mlc.fill {dims = #mlc.dims<["%arg0_d0"]>, value = #mlc.real<1.0>, type = f32} : () -> !y
  return %0 : !y
}
func.func @a(%x: tensor<?xf32>, %y: !y) -> tensor<?xf32> {
  %c = arith.constant dense<1.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%c : tensor<f32>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    linalg.yield %a : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "a| Int)(assert false)(exit)"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("a| Int)(assert false)(exit)" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("a| Int)(assert false)(exit)" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "a| Int)\n(assert false)\n(exit)"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("a| Int)\n(assert false)\n(exit)" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("a| Int)\n(assert false)\n(exit)" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "a\nb"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("a\nb" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("a\nb" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "a|"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("a|" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("a|" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "|"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("|" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("|" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "a\\"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("a\\" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("a\\" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "a) (assert false"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("a) (assert false" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("a) (assert false" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "; x"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("; x" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("; x" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: 100 more elements or none
!x = tensor<?x?xf32, #mlc.dims<[n, "\0A(assert false)"]>>
!z = tensor<?xf32, #mlc.dims<[n + max("\0A(assert false)" - 100, 0)]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[n + max("\0A(assert false)" - 100, 0)]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- proved: a name is only a name
!x = tensor<?x?xf32, #mlc.dims<[n, "a| Int)(assert false)(exit)"]>>
!z = tensor<?xf32, #mlc.dims<[min(n, n + "a| Int)(assert false)(exit)")]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[min(n, n + "a| Int)(assert false)(exit)")]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- proved: a name is only a name
!x = tensor<?x?xf32, #mlc.dims<[n, "a\nb"]>>
!z = tensor<?xf32, #mlc.dims<[min(n, n + "a\nb")]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[min(n, n + "a\nb")]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- proved: a name is only a name
!x = tensor<?x?xf32, #mlc.dims<[n, "quotient0"]>>
!z = tensor<?xf32, #mlc.dims<[min(n, n + "quotient0")]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[min(n, n + "quotient0")]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- proved: a name is only a name
!x = tensor<?x?xf32, #mlc.dims<[n, "s0"]>>
!z = tensor<?xf32, #mlc.dims<[min(n, n + "s0")]>>
func.func @b(%x: !x) -> !n {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = f32} : () -> !n
  return %0 : !n
}
func.func @a(%x: !x) -> !z {
  %0 = mlc.fill {dims = #mlc.dims<[min(n, n + "s0")]>, value = #mlc.real<1.0>, type = f32} : () -> !z
  return %0 : !z
}

//--- not proved: a parameter that may be below 0
func.func @b(%x: !n) -> !n {
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<infinity>, type = f32} : () -> !n
  %2 = mlc.abs %1 : (!n) -> !n
  return %2 : !n
}
func.func @a(%x: !n) -> !n {
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<infinity>, type = f32} : () -> !n
  return %1 : !n
}

//--- not proved: a parameter that may be below an element
func.func @b(%x: !n) -> !n {
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<infinity>, type = f32} : () -> !n
  %2 = mlc.neg %1 : (!n) -> !n
  %3 = mlc.max %x, %2 : (!n, !n) -> !n
  return %3 : !n
}
func.func @a(%x: !n) -> !n {
  return %x : !n
}

//--- not proved: a parameter that may be below 0
func.func @b(%x: !n) -> !n {
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<"%inf">, type = f32} : () -> !n
  %2 = mlc.abs %1 : (!n) -> !n
  return %2 : !n
}
func.func @a(%x: !n) -> !n {
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<"%inf">, type = f32} : () -> !n
  return %1 : !n
}

//--- not proved: a parameter that may be below an element
func.func @b(%x: !n) -> !n {
  %1 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<"%inf">, type = f32} : () -> !n
  %2 = mlc.neg %1 : (!n) -> !n
  %3 = mlc.max %x, %2 : (!n, !n) -> !n
  return %3 : !n
}
func.func @a(%x: !n) -> !n {
  return %x : !n
}

//--- not proved: what nobody has written
func.func @b(%x: !n) -> tensor<4xf32> {
  %0 = mlc.fill {dims = #mlc.dims<[4]>, value = #mlc.real<uninitialized_1_0>, type = f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @a(%x: !n) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- not proved: what nobody has written
func.func @b(%x: !n) -> tensor<4xf32> {
  %0 = mlc.fill {dims = #mlc.dims<[4]>, value = #mlc.real<"%uninitialized_1_0">, type = f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @a(%x: !n) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- not proved: what nobody has written
func.func @b(%x: !n) -> tensor<4xf32> {
  %0 = mlc.fill {dims = #mlc.dims<[4]>, value = #mlc.real<"uninitialized_1_0">, type = f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @a(%x: !n) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- not proved: what nobody has written
func.func @b(%x: !n) -> tensor<4xf32> {
  %0 = mlc.fill {dims = #mlc.dims<[4]>, value = #mlc.real<"%handed0">, type = f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @a(%x: !n) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}
