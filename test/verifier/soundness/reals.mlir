// What real numbers know nothing of: infinities where a maximum is of nothing, integers of floats that were rounded.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!xm = tensor<?x?xf32, #mlc.dims<[n, m]>>
!one = tensor<?x1xf32, #mlc.dims<[n, 1]>>
!i = tensor<?xi64, #mlc.dims<[n]>>

//--- not proved: the maximum of nothing less itself is NaN
func.func @b(%x: !xm, %y: !one) -> !one {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!xm) -> !one
  %1 = mlc.sub %0, %0 : (!one, !one) -> !one
  %2 = mlc.add %1, %y : (!one, !one) -> !one
  return %2 : !one
}
func.func @a(%x: !xm, %y: !one) -> !one {
  return %y : !one
}

//--- proved: the same where it is of something
func.func @b(%x: !xm, %y: !one) -> !one attributes {mlc.assume = ["m >= 1"]} {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!xm) -> !one
  %1 = mlc.sub %0, %0 : (!one, !one) -> !one
  %2 = mlc.add %1, %y : (!one, !one) -> !one
  return %2 : !one
}
func.func @a(%x: !xm, %y: !one) -> !one {
  return %y : !one
}

//--- not proved: a comparison is a difference too
func.func @b(%x: !xm, %y: !one) -> tensor<?x1xi1, #mlc.dims<[n, 1]>> {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!xm) -> !one
  %1 = mlc.add %0, %y : (!one, !one) -> !one
  %2 = mlc.compare %1, %0 {predicate = "lt"} : (!one, !one) -> tensor<?x1xi1, #mlc.dims<[n, 1]>>
  return %2 : tensor<?x1xi1, #mlc.dims<[n, 1]>>
}
func.func @a(%x: !xm, %y: !one) -> tensor<?x1xi1, #mlc.dims<[n, 1]>> {
  %0 = mlc.fill {dims = #mlc.dims<[n, 1]>, value = #mlc.real<0.0>, type = f32} : () -> !one
  %1 = mlc.compare %y, %0 {predicate = "lt"} : (!one, !one) -> tensor<?x1xi1, #mlc.dims<[n, 1]>>
  return %1 : tensor<?x1xi1, #mlc.dims<[n, 1]>>
}

//--- not proved: the exponential of nothing is 0 over 0
func.func @b(%x: !xm) -> !one {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!xm) -> !one
  %1 = mlc.exp %0 : (!one) -> !one
  %2 = mlc.div %1, %1 : (!one, !one) -> !one
  return %2 : !one
}
func.func @a(%x: !xm) -> !one {
  %0 = mlc.fill {dims = #mlc.dims<[n, 1]>, value = #mlc.real<1.0>, type = f32} : () -> !one
  return %0 : !one
}

//--- not refuted: an infinity that is only added to is the same on both sides
func.func @b(%x: !xm, %y: !one) -> !one {
  %0 = mlc.add %x, %y : (!xm, !one) -> !xm
  %1 = mlc.reduce %0 {kind = "max", axes = array<i64: 1>} : (!xm) -> !one
  return %1 : !one
}
func.func @a(%x: !xm, %y: !one) -> !one {
  %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!xm) -> !one
  %1 = mlc.add %0, %y : (!one, !one) -> !one
  return %1 : !one
}

//--- not proved: a window of max_pool lies outside of a tensor of one element
func.func @b(%x: !x, %y: !x) -> !x attributes {mlc.assume = ["n >= 1"]} {
  return %y : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  %0 = mlc.reshape %x {dims = #mlc.dims<[1, 1, n]>} : (!x) -> tensor<1x1x?xf32, #mlc.dims<[1, 1, n]>>
  %1 = mlc.max_pool %0 {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[2]>, ceil_pads = #mlc.dims<[0]>} : (tensor<1x1x?xf32, #mlc.dims<[1, 1, n]>>) -> tensor<1x1x?xf32, #mlc.dims<[1, 1, n]>>
  %2 = mlc.reshape %1 {dims = #mlc.dims<[n]>} : (tensor<1x1x?xf32, #mlc.dims<[1, 1, n]>>) -> !x
  %3 = mlc.sub %2, %2 : (!x, !x) -> !x
  %4 = mlc.add %y, %3 : (!x, !x) -> !x
  return %4 : !x
}

//--- not proved: the position 14 / 6 * 3 of element 1 is 7, or just below
func.func @b(%x: tensor<14xi32>) -> tensor<2xi32> {
  %0 = mlc.resize %x {dims = #mlc.dims<[2]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = []} : (tensor<14xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @a(%x: tensor<14xi32>) -> tensor<2xi32> {
  %0 = mlc.resize %x {dims = #mlc.dims<[6]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = []} : (tensor<14xi32>) -> tensor<6xi32>
  %1 = mlc.slice %0 {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[2]>, steps = #mlc.dims<[3]>} : (tensor<6xi32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}

//--- not proved: i / 41 * 41 is not i for some
func.func @b(%x: !i) -> !i {
  %f = mlc.cast %x {to = f32} : (!i) -> !x
  %c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<41.0>, type = f32} : () -> !x
  %d = mlc.div %f, %c : (!x, !x) -> !x
  %m = mlc.mul %d, %c : (!x, !x) -> !x
  %j = mlc.cast %m {to = i64} : (!x) -> !i
  return %j : !i
}
func.func @a(%x: !i) -> !i {
  return %x : !i
}

//--- not refuted: f32 has no 16777217, and makes 16777216 of it
func.func @b(%x: !i) -> !i {
  %c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<16777217.0>, type = i64} : () -> !i
  %f = mlc.cast %c {to = f32} : (!i) -> !x
  %j = mlc.cast %f {to = i64} : (!x) -> !i
  return %j : !i
}
func.func @a(%x: !i) -> !i {
  %c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<16777216.0>, type = i64} : () -> !i
  return %c : !i
}

//--- not proved: nor does it keep it
func.func @b(%x: !i) -> !i {
  %c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<16777217.0>, type = i64} : () -> !i
  %f = mlc.cast %c {to = f32} : (!i) -> !x
  %j = mlc.cast %f {to = i64} : (!x) -> !i
  return %j : !i
}
func.func @a(%x: !i) -> !i {
  %c = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<16777217.0>, type = i64} : () -> !i
  return %c : !i
}

//--- not proved: 1 - 2 times infinity is -inf, and infinity - 2 infinity is NaN
func.func @b(%x: !x, %y: !x) -> !x {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = (x[i] + y[i]) * f32(inf)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = x[i] * f32(inf) + y[i] * f32(inf)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x) -> !x
  return %0 : !x
}

//--- not proved: the same of a constant's elements
func.func @b(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %c = mlc.constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %0 = mlc.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = mlc.mul %0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @a(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %c = mlc.constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %0 = mlc.mul %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = mlc.mul %y, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = mlc.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

//--- proved: an infinite mask is only added
func.func @b(%x: !x, %y: !x, %z: !x) -> !x {
  %0 = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[i] = (x[i] + y[i]) + select(i < 3, z[i], f32(-inf))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %0 : !x
}
func.func @a(%x: !x, %y: !x, %z: !x) -> !x {
  %0 = mlc.compute %x, %y, %z {definition = "(x, y, z) Y[i] = (x[i] + select(i < 3, z[i], f32(-inf))) + y[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x, !x, !x) -> !x
  return %0 : !x
}

//--- error: nothing is equal to NaN
func.func @b(%x: !x) -> !x attributes {mlc.assume = ["real t == nan"]} {
  return %x : !x
}
func.func @a(%x: !x) -> !x {
  return %x : !x
}

//--- error: which two of three
func.func @b(%x: !x) -> !x {
  return %x : !x
}
func.func @a(%x: !x) -> !x {
  return %x : !x
}
func.func @c(%x: !x) -> !x {
  %0 = mlc.add %x, %x : (!x, !x) -> !x
  return %0 : !x
}

//--- not proved: all iterations of a parallel loop write the same element
func.func @b(%x: tensor<?xf32>) -> tensor<1xf32> {
  %z = arith.constant dense<0.0> : tensor<1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xf32>) outs(%z : tensor<1xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @a(%x: tensor<?xf32>) -> tensor<1xf32> {
  %z = arith.constant dense<0.0> : tensor<1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?xf32>) outs(%z : tensor<1xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

//--- proved: a padding is not less than a padding
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] < x<-inf>[i - 2], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(i == 0, 0, select(x<-inf>[i - 1] < x<-inf>[i - 2], 1, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- refuted: nor is it
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] < x<-inf>[i - 2], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(i == 0, 1, select(x<-inf>[i - 1] < x<-inf>[i - 2], 1, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- refuted: a padding is at most a padding
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] <= x<-inf>[i - 2], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(i == 0, 0, select(x<-inf>[i - 1] <= x<-inf>[i - 2], 1, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- refuted: a padding is less than a number
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] < x<-inf>[i], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(i == 0, 0, select(x<-inf>[i - 1] < x<-inf>[i], 1, 0))", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- proved: two tensors are padded alike
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] < y<-inf>[i - 1], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<0>[i - 1] < y<0>[i - 1], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- refuted: these are not
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] < y<-inf>[i], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<0>[i - 1] < y<0>[i], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}

//--- unknown: what a padding is added to is no order of numbers
func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] < y<-inf>[i - 1], 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>> attributes {mlc.assume = ["n >= 2"]} {
  %0 = mlc.compute %x, %y {definition = "(x, y) Y[i] = select(x<-inf>[i - 1] + 1 < y<-inf>[i - 1] + 1, 1, 0)", dims = #mlc.dims<[n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (tensor<?xf32, #mlc.dims<[n]>>, tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[n]>>
  return %0 : tensor<?xf32, #mlc.dims<[n]>>
}
