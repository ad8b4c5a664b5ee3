// Operations of arith as upstream defines them.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

//--- refuted: true is -1 as a signed number
func.func @b(%t0: tensor<?xi1>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i1, %z: i32):
    %r = arith.extsi %a : i1 to i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi1>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i1, %z: i32):
    %r = arith.extui %a : i1 to i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- proved: true is -1 as a signed number
func.func @b(%t0: tensor<?xi1>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i1, %z: i32):
    %r = arith.extsi %a : i1 to i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi1>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i1, %z: i32):
    %m = arith.constant -1 : i32
    %c = arith.constant 0 : i32
    %r = arith.select %a, %m, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: true is -1.0 of a signed conversion
func.func @b(%t0: tensor<?xi1>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: i1, %z: f32):
    %r = arith.sitofp %a : i1 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @a(%t0: tensor<?xi1>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: i1, %z: f32):
    %r = arith.uitofp %a : i1 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//--- refuted: true is the index -1
func.func @b(%t0: tensor<?xi1>, %o: tensor<?xi64>) -> tensor<?xi64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xi64>) {
  ^bb0(%a: i1, %z: i64):
    %i = arith.index_cast %a : i1 to index
    %r = arith.index_cast %i : index to i64
    linalg.yield %r : i64 } -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
func.func @a(%t0: tensor<?xi1>, %o: tensor<?xi64>) -> tensor<?xi64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi1>) outs(%o : tensor<?xi64>) {
  ^bb0(%a: i1, %z: i64):
    %i = arith.index_castui %a : i1 to index
    %r = arith.index_cast %i : index to i64
    linalg.yield %r : i64 } -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
//--- refuted: an unsigned minimum of negative numbers
func.func @b(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %z: i32):
    %r = arith.minui %a, %b : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %z: i32):
    %r = arith.minsi %a, %b : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- proved: a minimum does not mind the order
func.func @b(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %z: i32):
    %r = arith.minui %a, %b : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %z: i32):
    %r = arith.minui %b, %a : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: the larger of two truth values, signed, is both
func.func @b(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.maxsi %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.ori %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- proved: the larger of two truth values, signed, is both
func.func @b(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.maxsi %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.andi %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- proved: true is below false, signed
func.func @b(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.cmpi slt, %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %t = arith.constant true
    %n = arith.xori %b, %t : i1
    %r = arith.andi %a, %n : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- proved: the lowest bit of what is odd and what is even
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i32, %z: i1):
    %s = arith.addi %a, %a : i32
    %r = arith.trunci %a : i32 to i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i32, %z: i1):
    %r = arith.trunci %a : i32 to i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- refuted: the lowest bit is not whether it is 0
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i32, %z: i1):
    %r = arith.trunci %a : i32 to i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i32, %z: i1):
    %c = arith.constant 0 : i32
    %r = arith.cmpi ne, %a, %c : i32
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- refuted: an i8 wraps
func.func @b(%t0: tensor<?xi8>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi8>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i8, %z: i32):
    %c = arith.constant 100 : i8
    %m = arith.muli %a, %c : i8
    %r = arith.extsi %m : i8 to i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi8>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi8>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i8, %z: i32):
    %c = arith.constant 100 : i32
    %m = arith.extsi %a : i8 to i32
    %r = arith.muli %m, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- proved: 256 x is 0 of an i8
func.func @b(%t0: tensor<?xi8>, %o: tensor<?xi8>) -> tensor<?xi8> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi8>) outs(%o : tensor<?xi8>) {
  ^bb0(%a: i8, %z: i8):
    %c = arith.constant 16 : i8
    %m = arith.muli %a, %c : i8
    %r = arith.muli %m, %c : i8
    linalg.yield %r : i8 } -> tensor<?xi8>
  return %0 : tensor<?xi8>
}
func.func @a(%t0: tensor<?xi8>, %o: tensor<?xi8>) -> tensor<?xi8> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi8>) outs(%o : tensor<?xi8>) {
  ^bb0(%a: i8, %z: i8):
    %r = arith.constant 0 : i8
    linalg.yield %r : i8 } -> tensor<?xi8>
  return %0 : tensor<?xi8>
}
//--- refuted: division rounds towards 0
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 2 : i32
    %r = arith.divsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 2 : i32
    %r = arith.floordivsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: unsigned division
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 2 : i32
    %r = arith.divsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 2 : i32
    %r = arith.divui %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: rounding up
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 3 : i32
    %r = arith.ceildivsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 3 : i32
    %r = arith.floordivsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: a rest has the sign of the dividend
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 4 : i32
    %r = arith.remsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 4 : i32
    %r = arith.remui %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- proved: what is left of a division
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 4 : i32
    %r = arith.remsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 4 : i32
    %q = arith.divsi %a, %c : i32
    %m = arith.muli %q, %c : i32
    %r = arith.subi %a, %m : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: unsigned order
func.func @b(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i32, %b: i32, %z: i1):
    %r = arith.cmpi ult, %a, %b : i32
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i32, %b: i32, %z: i1):
    %r = arith.cmpi slt, %a, %b : i32
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- proved: a shift is a multiple
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 3 : i32
    %r = arith.shli %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 8 : i32
    %r = arith.muli %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- not proved: a sum that may be poison
func.func @b(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %z: i32):
    %r = arith.addi %a, %b : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %z: i32):
    %r = arith.addi %a, %b overflow<nsw> : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- not proved: a quotient that overflows is undefined
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 0 : i32
    %r = arith.subi %c, %a : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant -1 : i32
    %r = arith.divsi %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- proved: narrowing a sum
func.func @b(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi8>) -> tensor<?xi8> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi8>) {
  ^bb0(%a: i32, %b: i32, %z: i8):
    %s = arith.addi %a, %b : i32
    %r = arith.trunci %s : i32 to i8
    linalg.yield %r : i8 } -> tensor<?xi8>
  return %0 : tensor<?xi8>
}
func.func @a(%t0: tensor<?xi32>, %t1: tensor<?xi32>, %o: tensor<?xi8>) -> tensor<?xi8> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi8>) {
  ^bb0(%a: i32, %b: i32, %z: i8):
    %x = arith.trunci %a : i32 to i8
    %y = arith.trunci %b : i32 to i8
    %r = arith.addi %x, %y : i8
    linalg.yield %r : i8 } -> tensor<?xi8>
  return %0 : tensor<?xi8>
}
//--- refuted: widening a sum
func.func @b(%t0: tensor<?xi8>, %t1: tensor<?xi8>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi8>, tensor<?xi8>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i8, %b: i8, %z: i32):
    %s = arith.addi %a, %b : i8
    %r = arith.extsi %s : i8 to i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi8>, %t1: tensor<?xi8>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi8>, tensor<?xi8>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i8, %b: i8, %z: i32):
    %x = arith.extsi %a : i8 to i32
    %y = arith.extsi %b : i8 to i32
    %r = arith.addi %x, %y : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- not proved: half of twice is not itself
func.func @b(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 2 : i32
    %m = arith.muli %a, %c : i32
    %r = arith.divsi %m, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @a(%t0: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %z: i32):
    %c = arith.constant 1 : i32
    %r = arith.muli %a, %c : i32
    linalg.yield %r : i32 } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
//--- refuted: sums of truth values are modulo 2
func.func @b(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.addi %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.ori %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- proved: sums of truth values are modulo 2
func.func @b(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.addi %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
func.func @a(%t0: tensor<?xi1>, %t1: tensor<?xi1>, %o: tensor<?xi1>) -> tensor<?xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0, %t1 : tensor<?xi1>, tensor<?xi1>) outs(%o : tensor<?xi1>) {
  ^bb0(%a: i1, %b: i1, %z: i1):
    %r = arith.xori %a, %b : i1
    linalg.yield %r : i1 } -> tensor<?xi1>
  return %0 : tensor<?xi1>
}
//--- refuted: an unsigned minimum of a negative index
func.func @b(%t0: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    %i = linalg.index 0 : index
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %d = arith.subi %i, %c4 : index
    %j = arith.minui %d, %c3 : index
    %k = arith.index_cast %j : index to i32
    %r = arith.sitofp %k : i32 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @a(%t0: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    %i = linalg.index 0 : index
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %d = arith.subi %i, %c4 : index
    %j = arith.minsi %d, %c3 : index
    %k = arith.index_cast %j : index to i32
    %r = arith.sitofp %k : i32 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//--- refuted: a negative index divided
func.func @b(%t0: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    %i = linalg.index 0 : index
    %c4 = arith.constant 5 : index
    %c3 = arith.constant 3 : index
    %d = arith.subi %i, %c4 : index
    %j = arith.divsi %d, %c3 : index
    %k = arith.index_cast %j : index to i32
    %r = arith.sitofp %k : i32 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @a(%t0: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    %i = linalg.index 0 : index
    %c4 = arith.constant 5 : index
    %c3 = arith.constant 3 : index
    %d = arith.subi %i, %c4 : index
    %j = arith.floordivsi %d, %c3 : index
    %k = arith.index_cast %j : index to i32
    %r = arith.sitofp %k : i32 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//--- refuted: an i8 index wraps
func.func @b(%t0: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    %i = linalg.index 0 : index
    %i8 = arith.index_cast %i : index to i8
    %c = arith.constant 100 : i8
    %m = arith.muli %i8, %c : i8
    %r = arith.sitofp %m : i8 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @a(%t0: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t0 : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %z: f32):
    %i = linalg.index 0 : index
    %c = arith.constant 100 : index
    %m = arith.muli %i, %c : index
    %k = arith.index_cast %m : index to i32
    %r = arith.sitofp %k : i32 to f32
    linalg.yield %r : f32 } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
