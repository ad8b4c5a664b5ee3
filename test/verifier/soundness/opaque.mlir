// Operators that nothing is known of: equal only on equal operands, computed by equal regions.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<8xf32>
!k = tensor<3xf32>
!i = tensor<3xi64>

//--- not proved: of exp(x) and of -x
func.func @b(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- proved: equal regions
func.func @b(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %u = math.exp %a : f32
    linalg.yield %u : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: another map
func.func @b(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (-i + 7)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: the largest and the smallest
func.func @b(%x: !x) -> !k {
  %v, %i = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %v, %i = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<3>, largest = false, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: of one argument and of the other
func.func @b(%x: !x, %y: !x) -> !k {
  %v, %i = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x, %y: !x) -> !k {
  %v, %i = mlc.top_k %y {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: regions that read other values from outside
func.func @b(%x: !x) -> !k {
  %c = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = arith.mulf %a, %c : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %c = arith.constant -2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = arith.mulf %a, %c : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- proved: regions that read the same value from outside
func.func @b(%x: !x) -> !k {
  %c = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = arith.mulf %a, %c : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %c = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %s = arith.mulf %a, %c : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: operands of the region change places
func.func @b(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %c = arith.constant 1.0 : f32
    %s = arith.subf %a, %c : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%x : !x) {
  ^bb0(%a: f32, %z: f32):
    %c = arith.constant 1.0 : f32
    %s = arith.subf %c, %a : f32
    linalg.yield %s : f32 } -> !x
  %v, %i = mlc.top_k %0 {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: two results
func.func @b(%x: !x) -> !k {
  %v, %i = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  %f = mlc.cast %i {to = f32} : (!i) -> !k
  return %f : !k
}
func.func @a(%x: !x) -> !k {
  %v, %i = mlc.top_k %x {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: other borders
func.func @b(%x: !x) -> !k {
  %p = tensor.pad %x low[1] high[-1] {
  ^bb0(%j: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : !x to !x
  %v, %i = mlc.top_k %p {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x) -> !k {
  %p = tensor.pad %x low[1] high[-1] {
  ^bb0(%j: index):
    %c = arith.constant 9.0 : f32
    tensor.yield %c : f32
  } : !x to !x
  %v, %i = mlc.top_k %p {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- not proved: of a loop that goes less far
func.func @b(%x: !x, %y: !x) -> !k {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %l = scf.for %j = %c0 to %c8 step %c1 iter_args(%q = %x) -> (!x) {
    %e = tensor.extract_slice %y[%j] [1] [1] : !x to tensor<1xf32>
    %w = tensor.insert_slice %e into %q[%j] [1] [1] : tensor<1xf32> into !x
    scf.yield %w : !x
  }
  %v, %i = mlc.top_k %l {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x, %y: !x) -> !k {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 5 : index
  %l = scf.for %j = %c0 to %c8 step %c1 iter_args(%q = %x) -> (!x) {
    %e = tensor.extract_slice %y[%j] [1] [1] : !x to tensor<1xf32>
    %w = tensor.insert_slice %e into %q[%j] [1] [1] : tensor<1xf32> into !x
    scf.yield %w : !x
  }
  %v, %i = mlc.top_k %l {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}

//--- proved: of loops alike
func.func @b(%x: !x, %y: !x) -> !k {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %l = scf.for %j = %c0 to %c8 step %c1 iter_args(%q = %x) -> (!x) {
    %e = tensor.extract_slice %y[%j] [1] [1] : !x to tensor<1xf32>
    %w = tensor.insert_slice %e into %q[%j] [1] [1] : tensor<1xf32> into !x
    scf.yield %w : !x
  }
  %v, %i = mlc.top_k %l {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
func.func @a(%x: !x, %y: !x) -> !k {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %l = scf.for %j = %c0 to %c8 step %c1 iter_args(%q = %x) -> (!x) {
    %e = tensor.extract_slice %y[%j] [1] [1] : !x to tensor<1xf32>
    %w = tensor.insert_slice %e into %q[%j] [1] [1] : tensor<1xf32> into !x
    scf.yield %w : !x
  }
  %v, %i = mlc.top_k %l {axis = 0 : i64, k = #mlc.int<3>, largest = true, sorted = true} : (!x) -> (!k, !i)
  return %v : !k
}
