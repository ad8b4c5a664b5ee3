// A function may get no result that it did not have, and must have all it had.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!y = tensor<?xf32, #mlc.dims<[m]>>

//--- not proved: n = 1, m = 61: the slice starts at -1
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["m >= 1"]} {
  return %x : !x
}
func.func @a(%x: !x, %y: !y) -> !x {
  %s = mlc.slice %x {starts = #mlc.dims<[n - 60 + max(60 - n, 0) - max(m - 60, 0)]>, sizes = #mlc.dims<[min(n,1)]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<?xf32, #mlc.dims<[min(n,1)]>>
  %c = mlc.concat %x, %s {axis = 0 : i64} : (!x, tensor<?xf32, #mlc.dims<[min(n,1)]>>) -> tensor<?xf32, #mlc.dims<[n + min(n,1)]>>
  %r = mlc.slice %c {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (tensor<?xf32, #mlc.dims<[n + min(n,1)]>>) -> !x
  return %r : !x
}

//--- proved: it starts inside
func.func @b(%x: !x, %y: !y) -> !x attributes {mlc.assume = ["n >= 2"]} {
  return %x : !x
}
func.func @a(%x: !x, %y: !y) -> !x {
  %s = mlc.slice %x {starts = #mlc.dims<[n - 2]>, sizes = #mlc.dims<[2]>, steps = #mlc.dims<[1]>} : (!x) -> tensor<2xf32>
  %c = mlc.concat %x, %s {axis = 0 : i64} : (!x, tensor<2xf32>) -> tensor<?xf32, #mlc.dims<[n + 2]>>
  %r = mlc.slice %c {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (tensor<?xf32, #mlc.dims<[n + 2]>>) -> !x
  return %r : !x
}

//--- not proved: n = 4 is neither 1 nor m = 5
func.func @b(%x: !x, %y: !y) -> !y attributes {mlc.assume = ["n >= 1"]} {
  return %y : !y
}
func.func @a(%x: !x, %y: !y) -> !y {
  %w = mlc.broadcast %x {dims = #mlc.dims<[m]>} : (!x) -> !y
  %d = mlc.sub %w, %w : (!y, !y) -> !y
  %r = mlc.add %y, %d : (!y, !y) -> !y
  return %r : !y
}

//--- proved: it is 1
func.func @b(%x: !x, %y: !y) -> !y attributes {mlc.assume = ["n == 1"]} {
  return %y : !y
}
func.func @a(%x: !x, %y: !y) -> !y {
  %w = mlc.broadcast %x {dims = #mlc.dims<[m]>} : (!x) -> !y
  %d = mlc.sub %w, %w : (!y, !y) -> !y
  %r = mlc.add %y, %d : (!y, !y) -> !y
  return %r : !y
}

//--- not proved: m - n may be negative
func.func @b(%x: !x, %y: !y) -> !x {
  return %x : !x
}
func.func @a(%x: !x, %y: !y) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[m - n]>, value = #mlc.real<0.0>, type = f32} : () -> tensor<?xf32, #mlc.dims<[m - n]>>
  %c = mlc.concat %x, %z {axis = 0 : i64} : (!x, tensor<?xf32, #mlc.dims<[m - n]>>) -> tensor<?xf32, #mlc.dims<[m]>>
  %p = mlc.pad %c {low = #mlc.dims<[0]>, high = #mlc.dims<[n]>, mode = "constant", value = #mlc.real<0.0>} : (tensor<?xf32, #mlc.dims<[m]>>) -> tensor<?xf32, #mlc.dims<[m + n]>>
  %r = mlc.slice %p {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (tensor<?xf32, #mlc.dims<[m + n]>>) -> !x
  return %r : !x
}

//--- error: the definition reads behind the end
func.func @b(%x: !x, %y: !y) -> !x {
  return %x : !x
}
func.func @a(%x: !x, %y: !y) -> !x {
  %0 = mlc.compute %x, %y {definition = "(x, y; n, m) Y[i] = x[i] + y[i] - y[i]", dims = #mlc.dims<[n]>, integers = #mlc.dims<[n, m]>, reals = [], type = f32} : (!x, !y) -> !x
  return %0 : !x
}

//--- not proved: n != 100 is no tensor of 100
func.func @b(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<100xf32>
  %1 = tensor.cast %0 : tensor<100xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

//--- proved: it was one before
func.func @b(%x: tensor<?xf32>) -> tensor<100xf32> {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<100xf32>
  return %0 : tensor<100xf32>
}
func.func @a(%x: tensor<?xf32>) -> tensor<100xf32> {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<100xf32>
  %1 = tensor.cast %0 : tensor<100xf32> to tensor<?xf32>
  %2 = tensor.cast %1 : tensor<?xf32> to tensor<100xf32>
  return %2 : tensor<100xf32>
}

//--- not proved: an odd number is no number of pairs
func.func @b(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %h = arith.floordivsi %n, %c2 : index
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%h, 2] : tensor<?xf32> into tensor<?x2xf32>
  %1 = tensor.extract_slice %0[0, 0] [0, 2] [1, 1] : tensor<?x2xf32> to tensor<0x2xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<0x2xf32> into tensor<0xf32>
  %3 = tensor.concat dim(0) %x, %2 : (tensor<?xf32>, tensor<0xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

//--- not proved: the slice ends behind the tensor
func.func @b(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.addi %n, %c1 : index
  %0 = tensor.extract_slice %x[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.extract_slice %0[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

//--- not proved: three elements do not fit into fewer
func.func @b(%x: tensor<?xf32>, %y: tensor<3xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>, %y: tensor<3xf32>) -> tensor<?xf32> {
  %0 = tensor.extract_slice %x[0] [3] [1] : tensor<?xf32> to tensor<3xf32>
  %1 = tensor.insert_slice %0 into %x[0] [3] [1] : tensor<3xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}

//--- not proved: what a slice takes away was read out of range
func.func @b(%x: tensor<4xi32>) -> tensor<3xi32> {
  %s = tensor.extract_slice %x[1] [3] [1] : tensor<4xi32> to tensor<3xi32>
  return %s : tensor<3xi32>
}
func.func @a(%x: tensor<4xi32>) -> tensor<3xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xi32>) {
  ^bb0(%q: i32):
    %i = linalg.index 0 : index
    %c1 = arith.constant 1 : index
    %j = arith.addi %i, %c1 : index
    %t = tensor.extract %x[%j] : tensor<4xi32>
    linalg.yield %t : i32 } -> tensor<4xi32>
  %s = tensor.extract_slice %g[0] [3] [1] : tensor<4xi32> to tensor<3xi32>
  return %s : tensor<3xi32>
}

//--- not proved: a scalar that fills nothing is read all the same
func.func @b(%x: tensor<?xi32>) -> tensor<0xi32> {
  %z = tensor.empty() : tensor<0xi32>
  return %z : tensor<0xi32>
}
func.func @a(%x: tensor<?xi32>) -> tensor<0xi32> {
  %c5 = arith.constant 5 : index
  %z = arith.constant 0 : i32
  %e = tensor.extract %x[%c5] : tensor<?xi32>
  %d = arith.subi %e, %z : i32
  %s = tensor.splat %d : tensor<0xi32>
  return %s : tensor<0xi32>
}
