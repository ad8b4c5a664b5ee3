// What is promised of floats: equal bits only for equal operations in equal order.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!m = tensor<?x?xf32, #mlc.dims<[n, m]>>
!t = tensor<?x?xf32, #mlc.dims<[m, n]>>

//--- proved, not bit-exact: products round in their order
func.func @b(%x: !x) -> tensor<1xf32> {
  %v1 = mlc.reverse %x {axes = array<i64: 0>} : (!x) -> !x
  %v2 = mlc.reduce %v1 {kind = "prod", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %v2 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %v1 = mlc.reduce %x {kind = "prod", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %v1 : tensor<1xf32>
}

//--- proved, not bit-exact: of two zeros code gives one or the other
func.func @b(%x: !x, %y: !x) -> !x {
  %v1 = mlc.max %x, %y : (!x, !x) -> !x
  return %v1 : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  %v1 = mlc.max %y, %x : (!x, !x) -> !x
  return %v1 : !x
}

//--- proved, not bit-exact: likewise of many values
func.func @b(%x: !x) -> tensor<1xf32> {
  %v1 = mlc.reverse %x {axes = array<i64: 0>} : (!x) -> !x
  %v2 = mlc.reduce %v1 {kind = "max", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %v2 : tensor<1xf32>
}
func.func @a(%x: !x) -> tensor<1xf32> {
  %v1 = mlc.reduce %x {kind = "max", axes = array<i64: 0>} : (!x) -> tensor<1xf32>
  return %v1 : tensor<1xf32>
}

//--- not refuted, not bit-exact: sqrt(-0) is -0
func.func @b(%x: !x) -> !x {
  %v1 = mlc.sqrt %x : (!x) -> !x
  %v2 = mlc.relu %v1 : (!x) -> !x
  return %v2 : !x
}
func.func @a(%x: !x) -> !x {
  %v1 = mlc.sqrt %x : (!x) -> !x
  return %v1 : !x
}

//--- proved, not bit-exact: 0 and -0
func.func @b(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<-0.0>, type = f32} : () -> !x
  return %z : !x
}
func.func @a(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  return %z : !x
}

//--- proved, not bit-exact: -0 + 0 is 0
func.func @b(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %r = mlc.add %x, %z : (!x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x) -> !x {
  return %x : !x
}

//--- value-changing: infinity * 0 is NaN
func.func @b(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %r = mlc.mul %x, %z : (!x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  return %z : !x
}

//--- proved, not bit-exact: the sum of one element -0 is 0
func.func @b(%x: tensor<1xf32>) -> tensor<1xf32> {
  %v1 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (tensor<1xf32>) -> tensor<1xf32>
  return %v1 : tensor<1xf32>
}
func.func @a(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}

//--- proved, not bit-exact: two dims added in the other order
func.func @b(%x: !m) -> tensor<1x1xf32> {
  %v2 = mlc.reduce %x {kind = "sum", axes = array<i64: 0, 1>} : (!m) -> tensor<1x1xf32>
  return %v2 : tensor<1x1xf32>
}
func.func @a(%x: !m) -> tensor<1x1xf32> {
  %v1 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!m) -> !t
  %v2 = mlc.reduce %v1 {kind = "sum", axes = array<i64: 0, 1>} : (!t) -> tensor<1x1xf32>
  return %v2 : tensor<1x1xf32>
}

//--- bit-exact: only moved
func.func @b(%x: !m) -> !t {
  %v1 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!m) -> !t
  %v2 = mlc.relu %v1 : (!t) -> !t
  return %v2 : !t
}
func.func @a(%x: !m) -> !t {
  %v1 = mlc.relu %x : (!m) -> !m
  %v2 = mlc.transpose %v1 {permutation = array<i64: 1, 0>} : (!m) -> !t
  return %v2 : !t
}

//--- bit-exact: one sum in one order
func.func @b(%x: !m) -> tensor<1x?xf32, #mlc.dims<[1, n]>> {
  %v1 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!m) -> !t
  %v2 = mlc.reduce %v1 {kind = "sum", axes = array<i64: 0>} : (!t) -> tensor<1x?xf32, #mlc.dims<[1, n]>>
  return %v2 : tensor<1x?xf32, #mlc.dims<[1, n]>>
}
func.func @a(%x: !m) -> tensor<1x?xf32, #mlc.dims<[1, n]>> {
  %v1 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!m) -> tensor<?x1xf32, #mlc.dims<[n, 1]>>
  %v2 = mlc.transpose %v1 {permutation = array<i64: 1, 0>} : (tensor<?x1xf32, #mlc.dims<[n, 1]>>) -> tensor<1x?xf32, #mlc.dims<[1, n]>>
  return %v2 : tensor<1x?xf32, #mlc.dims<[1, n]>>
}

//--- proved, not bit-exact: one rounding or two
func.func @b(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f32>
  %b = tensor.extract %y[] : tensor<f32>
  %r = math.fma %a, %b, %a : f32
  %s = tensor.splat %r : tensor<f32>
  return %s : tensor<f32>
}
func.func @a(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f32>
  %b = tensor.extract %y[] : tensor<f32>
  %p = arith.mulf %a, %b : f32
  %r = arith.addf %p, %a : f32
  %s = tensor.splat %r : tensor<f32>
  return %s : tensor<f32>
}

//--- proved, not bit-exact: maxnumf gives a number where there is one
func.func @b(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f32>
  %b = tensor.extract %y[] : tensor<f32>
  %r = arith.maxnumf %a, %b : f32
  %s = tensor.splat %r : tensor<f32>
  return %s : tensor<f32>
}
func.func @a(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f32>
  %b = tensor.extract %y[] : tensor<f32>
  %r = arith.maximumf %a, %b : f32
  %s = tensor.splat %r : tensor<f32>
  return %s : tensor<f32>
}

//--- not bit-exact: products of f16 rounded to f16 and to f32
func.func @b(%x: tensor<?xf16, #mlc.dims<[n]>>) -> !x {
  %0 = mlc.mul %x, %x : (tensor<?xf16, #mlc.dims<[n]>>, tensor<?xf16, #mlc.dims<[n]>>) -> tensor<?xf16, #mlc.dims<[n]>>
  %1 = mlc.cast %0 {to = f32} : (tensor<?xf16, #mlc.dims<[n]>>) -> !x
  return %1 : !x
}
func.func @a(%x: tensor<?xf16, #mlc.dims<[n]>>) -> !x {
  %0 = mlc.cast %x {to = f32} : (tensor<?xf16, #mlc.dims<[n]>>) -> !x
  %1 = mlc.mul %0, %0 : (!x, !x) -> !x
  return %1 : !x
}

//--- proved: casts have no fast-math flags
func.func @b(%x: tensor<f16>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f16>
  %b = arith.extf %a : f16 to f32
  %s = tensor.splat %b : tensor<f32>
  return %s : tensor<f32>
}
func.func @a(%x: tensor<f16>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f16>
  %b = arith.extf %a : f16 to f32
  %s = tensor.splat %b : tensor<f32>
  return %s : tensor<f32>
}

//--- not proved: narrowing rounds
func.func @b(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @a(%x: tensor<f32>) -> tensor<f32> {
  %a = tensor.extract %x[] : tensor<f32>
  %b = arith.truncf %a : f32 to f16
  %c = arith.extf %b : f16 to f32
  %s = tensor.splat %c : tensor<f32>
  return %s : tensor<f32>
}

//--- not proved: f16 does not hold 2049

func.func @b() -> tensor<?xi1, #mlc.dims<[n]>> {
  %0 = mlc.iota {dims = #mlc.dims<[n]>, axis = 0 : i64, start = #mlc.int<0>, step = #mlc.int<1>} : () -> tensor<?xi64, #mlc.dims<[n]>>
  %1 = mlc.cast %0 {to = f16} : (tensor<?xi64, #mlc.dims<[n]>>) -> tensor<?xf16, #mlc.dims<[n]>>
  %2 = mlc.cast %1 {to = f32} : (tensor<?xf16, #mlc.dims<[n]>>) -> !x
  %3 = mlc.cast %0 {to = f32} : (tensor<?xi64, #mlc.dims<[n]>>) -> !x
  %c = mlc.compare %2, %3 {predicate = "eq"} : (!x, !x) -> tensor<?xi1, #mlc.dims<[n]>>
  return %c : tensor<?xi1, #mlc.dims<[n]>>
}
func.func @a() -> tensor<?xi1, #mlc.dims<[n]>> {
  %t = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<1.0>, type = i1} : () -> tensor<?xi1, #mlc.dims<[n]>>
  return %t : tensor<?xi1, #mlc.dims<[n]>>
}

//--- not proved: NaN is not equal to itself

func.func @b(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mlc.constant dense<0x7FC00000> : tensor<4xf32>
  %c = mlc.compare %0, %0 {predicate = "eq"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = mlc.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @a(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- not proved: nor is infinity less infinity

func.func @b(%x: !x, %y: !x) -> !x {
  %0 = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<inf>, type = f32} : () -> !x
  %s = mlc.sub %0, %0 : (!x, !x) -> !x
  %c = mlc.compare %s, %s {predicate = "eq"} : (!x, !x) -> tensor<?xi1, #mlc.dims<[n]>>
  %r = mlc.select %c, %x, %y : (tensor<?xi1, #mlc.dims<[n]>>, !x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  return %x : !x
}

//--- not bit-exact: a reverse scan adds from the end
func.func @b(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<1xf32> attributes {mlc.assume = ["n >= 1"]} {
  %0 = mlc.cumsum %x {axis = 0 : i64, exclusive = false, reverse = true} : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  %1 = mlc.slice %0 {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[1]>, steps = #mlc.dims<[1]>} : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
func.func @a(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<1xf32> {
  %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 0>} : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
