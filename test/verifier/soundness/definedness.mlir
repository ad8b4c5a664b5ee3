// What is defined where: selections choose, products and conjunctions do not.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32, #mlc.dims<[n]>>
!b = tensor<?xi1, #mlc.dims<[n]>>

//--- not proved: x = 0: 0 and NaN
func.func @b(%x: !x, %y: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "ne"} : (!x, !x) -> !b
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %r = mlc.select %c, %d, %z : (!b, !x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "ne"} : (!x, !x) -> !b
  %cf = mlc.cast %c {to = f32} : (!b) -> !x
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %r = mlc.mul %cf, %d : (!x, !x) -> !x
  return %r : !x
}

//--- proved: divided only where it can be
func.func @b(%x: !x, %y: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "ne"} : (!x, !x) -> !b
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %r = mlc.select %c, %d, %z : (!b, !x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "ne"} : (!x, !x) -> !b
  %i = mlc.reciprocal %x : (!x) -> !x
  %d = mlc.mul %y, %i : (!x, !x) -> !x
  %r = mlc.select %c, %d, %z : (!b, !x, !x) -> !x
  return %r : !x
}

//--- not refuted: with another side in place of the other
func.func @b(%x: !x, %y: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "gt"} : (!x, !x) -> !b
  %d = mlc.sqrt %x : (!x) -> !x
  %r = mlc.select %c, %d, %y : (!b, !x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x, %y: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "le"} : (!x, !x) -> !b
  %d = mlc.sqrt %x : (!x) -> !x
  %r = mlc.select %c, %y, %d : (!b, !x, !x) -> !x
  return %r : !x
}

//--- not proved: x = -1: 0 and NaN
func.func @b(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "gt"} : (!x, !x) -> !b
  %d = mlc.sqrt %x : (!x) -> !x
  %r = mlc.select %c, %d, %z : (!b, !x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x) -> !x {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "gt"} : (!x, !x) -> !b
  %d = mlc.sqrt %x : (!x) -> !x
  %e = mlc.sub %d, %d : (!x, !x) -> !x
  %s = mlc.select %c, %d, %z : (!b, !x, !x) -> !x
  %r = mlc.add %s, %e : (!x, !x) -> !x
  return %r : !x
}

//--- not proved: the other condition chooses the quotient where x = 0
func.func @b(%x: !x, %y: !x, %c: !b) -> !x {
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %r = mlc.select %c, %d, %y : (!b, !x, !x) -> !x
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %c: !b) -> !x {
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %n = mlc.not %c : (!b) -> !b
  %e = mlc.sub %d, %d : (!x, !x) -> !x
  %s = mlc.select %n, %e, %y : (!b, !x, !x) -> !x
  %t = mlc.select %c, %d, %y : (!b, !x, !x) -> !x
  %u = mlc.select %n, %e, %t : (!b, !x, !x) -> !x
  %v = mlc.select %n, %y, %u : (!b, !x, !x) -> !x
  %w = mlc.add %v, %e : (!x, !x) -> !x
  return %w : !x
}

//--- not proved: where x = 0, false and anything is false
func.func @b(%x: !x, %y: !x) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "ne"} : (!x, !x) -> !b
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %g = mlc.compare %d, %z {predicate = "gt"} : (!x, !x) -> !b
  %r = mlc.and %c, %g : (!b, !b) -> !b
  return %r : !b
}
func.func @a(%x: !x, %y: !x) -> !b {
  %z = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<0.0>, type = f32} : () -> !x
  %c = mlc.compare %x, %z {predicate = "ne"} : (!x, !x) -> !b
  %d = mlc.div %y, %x : (!x, !x) -> !x
  %e = mlc.sub %d, %d : (!x, !x) -> !x
  %f = mlc.add %d, %e : (!x, !x) -> !x
  %cf = mlc.cast %c {to = f32} : (!b) -> !x
  %p = mlc.mul %cf, %f : (!x, !x) -> !x
  %g = mlc.compare %p, %z {predicate = "gt"} : (!x, !x) -> !b
  %r = mlc.and %g, %c : (!b, !b) -> !b
  return %r : !b
}

//--- not proved: x = 1e20 is no i32
func.func @b(%x: !x, %y: tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>> {
  return %y : tensor<?xi32, #mlc.dims<[n]>>
}
func.func @a(%x: !x, %y: tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>> {
  %c = mlc.cast %x {to = i32} : (!x) -> tensor<?xi32, #mlc.dims<[n]>>
  %d = mlc.sub %c, %c : (tensor<?xi32, #mlc.dims<[n]>>, tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>>
  %r = mlc.add %y, %d : (tensor<?xi32, #mlc.dims<[n]>>, tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>>
  return %r : tensor<?xi32, #mlc.dims<[n]>>
}

//--- proved: it was one before
func.func @b(%x: !x, %y: tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>> {
  %c = mlc.cast %x {to = i32} : (!x) -> tensor<?xi32, #mlc.dims<[n]>>
  %r = mlc.add %y, %c : (tensor<?xi32, #mlc.dims<[n]>>, tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>>
  return %r : tensor<?xi32, #mlc.dims<[n]>>
}
func.func @a(%x: !x, %y: tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>> {
  %v = mlc.reverse %x {axes = array<i64: 0>} : (!x) -> !x
  %c = mlc.cast %v {to = i32} : (!x) -> tensor<?xi32, #mlc.dims<[n]>>
  %w = mlc.reverse %c {axes = array<i64: 0>} : (tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>>
  %r = mlc.add %w, %y : (tensor<?xi32, #mlc.dims<[n]>>, tensor<?xi32, #mlc.dims<[n]>>) -> tensor<?xi32, #mlc.dims<[n]>>
  return %r : tensor<?xi32, #mlc.dims<[n]>>
}

//--- not proved: 0 / 0 of an index is not 1
func.func @b(%a: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<?xi32>) {
  ^bb0(%out: i32):
    %c = arith.constant 1 : i32
    linalg.yield %c : i32
  } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%a: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<?xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %q = arith.divsi %i, %i : index
    %c = arith.index_cast %q : index to i32
    linalg.yield %c : i32
  } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

//--- not proved: an argument without elements has no n mod n
func.func @b(%a: tensor<?xi32>) -> tensor<1xi32> {
  %c = arith.constant dense<0> : tensor<1xi32>
  return %c : tensor<1xi32>
}
func.func @a(%a: tensor<?xi32>) -> tensor<1xi32> {
  %z = arith.constant 0 : index
  %n = tensor.dim %a, %z : tensor<?xi32>
  %q = arith.remsi %n, %n : index
  %c = arith.index_cast %q : index to i32
  %t = tensor.splat %c : tensor<1xi32>
  return %t : tensor<1xi32>
}

//--- not proved: nor does a map divide by nothing
func.func @b(%a: tensor<?xi32>) -> tensor<1xi32> {
  %c = arith.constant dense<1> : tensor<1xi32>
  return %c : tensor<1xi32>
}
func.func @a(%a: tensor<?xi32>) -> tensor<1xi32> {
  %z = arith.constant 0 : index
  %n = tensor.dim %a, %z : tensor<?xi32>
  %q = affine.apply affine_map<()[s0] -> (s0 floordiv s0)>()[%n]
  %c = arith.index_cast %q : index to i32
  %t = tensor.splat %c : tensor<1xi32>
  return %t : tensor<1xi32>
}

//--- proved: it was divided before
func.func @b(%a: tensor<?xi32>) -> tensor<1xi32> {
  %z = arith.constant 0 : index
  %n = tensor.dim %a, %z : tensor<?xi32>
  %q = arith.divsi %n, %n : index
  %c = arith.index_cast %q : index to i32
  %t = tensor.splat %c : tensor<1xi32>
  return %t : tensor<1xi32>
}
func.func @a(%a: tensor<?xi32>) -> tensor<1xi32> {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %n = tensor.dim %a, %z : tensor<?xi32>
  %q = arith.ceildivsi %n, %n : index
  %c = arith.index_cast %q : index to i32
  %d = arith.muli %c, %one : i32
  %t = tensor.splat %d : tensor<1xi32>
  return %t : tensor<1xi32>
}

//--- not proved: no mean of no integers, whether it is read or not
func.func @b(%x: tensor<?x?xi64, #mlc.dims<[n, m]>>) -> tensor<1x?xi64, #mlc.dims<[1, m]>> {
  %0 = mlc.reduce %x {axes = array<i64: 0>, kind = "sum"} : (tensor<?x?xi64, #mlc.dims<[n, m]>>) -> tensor<1x?xi64, #mlc.dims<[1, m]>>
  %1 = mlc.cumsum %0 {axis = 0 : i64, exclusive = true, reverse = false} : (tensor<1x?xi64, #mlc.dims<[1, m]>>) -> tensor<1x?xi64, #mlc.dims<[1, m]>>
  return %1 : tensor<1x?xi64, #mlc.dims<[1, m]>>
}
func.func @a(%x: tensor<?x?xi64, #mlc.dims<[n, m]>>) -> tensor<1x?xi64, #mlc.dims<[1, m]>> {
  %0 = mlc.reduce %x {axes = array<i64: 0>, kind = "mean"} : (tensor<?x?xi64, #mlc.dims<[n, m]>>) -> tensor<1x?xi64, #mlc.dims<[1, m]>>
  %1 = mlc.cumsum %0 {axis = 0 : i64, exclusive = true, reverse = false} : (tensor<1x?xi64, #mlc.dims<[1, m]>>) -> tensor<1x?xi64, #mlc.dims<[1, m]>>
  return %1 : tensor<1x?xi64, #mlc.dims<[1, m]>>
}

//--- not proved: the elements behind the slice are divided, too
func.func @b(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<2xi32> {
  %0 = tensor.extract_slice %x[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  %1 = tensor.extract_slice %y[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  %e = tensor.empty() : tensor<2xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0, %1 : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @a(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<2xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<4xi32>
  %0 = tensor.extract_slice %r[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  return %0 : tensor<2xi32>
}

//--- proved: fewer are divided
func.func @b(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<2xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<4xi32>
  %0 = tensor.extract_slice %r[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @a(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<2xi32> {
  %0 = tensor.extract_slice %x[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  %1 = tensor.extract_slice %y[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  %e = tensor.empty() : tensor<2xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0, %1 : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<2xi32>
  return %r : tensor<2xi32>
}

//--- not proved: a region divides whether its quotient is used or not
func.func @b(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    linalg.yield %a : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    %q = arith.divui %a, %b : i32
    linalg.yield %a : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

//--- not proved: a quotient is one where another value is selected
func.func @b(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    linalg.yield %a : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    %z = arith.constant 0 : i32
    %k = arith.cmpi eq, %b, %z : i32
    %q = arith.divui %a, %b : i32
    %s = arith.select %k, %a, %q : i32
    %m = arith.muli %s, %z : i32
    %r = arith.addi %m, %a : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

//--- not proved: indices may be divided by a negative number
func.func @b(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %k = arith.subi %m, %c5 : index
  %q = arith.floordivsi %c10, %k : index
  %p = arith.maxsi %q, %c0 : index
  %e = tensor.empty(%p) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
func.func @a(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %k0 = arith.subi %m, %c5 : index
  %k = arith.maxsi %k0, %c1 : index
  %q = arith.floordivsi %c10, %k : index
  %p = arith.maxsi %q, %c0 : index
  %e = tensor.empty(%p) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}

//--- proved: what is always used may be divided
func.func @b(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    %r = arith.divui %a, %b : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    %q = arith.divui %a, %b : i32
    %z = arith.constant 0 : i32
    %r = arith.addi %q, %z : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

//--- not proved: what nobody has written is no number
func.func @b(%y: tensor<?xf32>) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}
func.func @a(%y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %d = linalg.sub ins(%e, %e : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.add ins(%y, %d : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
