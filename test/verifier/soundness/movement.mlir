// Loops, slices, borders and unwritten tensors of linalg, tensor and scf.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s
!x = tensor<?xf32>
!m = tensor<?x?xf32>

//--- not proved: every second
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c2 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: from 1
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: to 3
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: offset fixed
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[0] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: source fixed
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[0] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: recurrence or shift
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %k = arith.subi %i, %c1 : index
    %s = tensor.extract_slice %bb[%k] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %k = arith.subi %i, %c1 : index
    %s = tensor.extract_slice %o[%k] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: overlapping writes
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %s = tensor.extract_slice %x[%i] [2] [1] : !x to tensor<2xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [2] [1] : tensor<2xf32> into !x
    scf.yield %b2 : !x
  }
  return %r : !x
}

//--- not proved: adds or multiplies
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}

//--- not proved: doubles
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %q, %q : f32
      %s = arith.addf %p, %t : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}

//--- not proved: adds x or y
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}

//--- not proved: once or n times
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%o : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
  return %g : !x
}

//--- proved: the same
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}

//--- not proved: adds itself
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%bb : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%o : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}

//--- not proved: adds the index or the iteration
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %j = linalg.index 0 : index
      %ji = arith.index_cast %j : index to i64
      %jf = arith.sitofp %ji : i64 to f32
      %s = arith.addf %q, %jf : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : !x
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%bb = %o) -> (!x) {
    %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%bb : !x) {
    ^bb0(%p: f32, %q: f32):
      %j = linalg.index 0 : index
      %ji = arith.index_cast %i : index to i64
      %jf = arith.sitofp %ji : i64 to f32
      %s = arith.addf %q, %jf : f32
      linalg.yield %s : f32 } -> !x
    scf.yield %g : !x
  }
  return %r : !x
}

//--- not proved: other sides
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<12xf32> {
  %p = tensor.pad %x low[1] high[3] {
  ^bb0(%j: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<12xf32>
  return %p : tensor<12xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<12xf32> {
  %p = tensor.pad %x low[3] high[1] {
  ^bb0(%j: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<12xf32>
  return %p : tensor<12xf32>
}

//--- not proved: other border
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<12xf32> {
  %p = tensor.pad %x low[1] high[3] {
  ^bb0(%j: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<12xf32>
  return %p : tensor<12xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<12xf32> {
  %p = tensor.pad %x low[1] high[3] {
  ^bb0(%j: index):
    %c = arith.constant 1.0 : f32
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<12xf32>
  return %p : tensor<12xf32>
}

//--- not proved: other source
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<12xf32> {
  %p = tensor.pad %x low[1] high[3] {
  ^bb0(%j: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<12xf32>
  return %p : tensor<12xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<12xf32> {
  %p = tensor.pad %y low[1] high[3] {
  ^bb0(%j: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<8xf32> to tensor<12xf32>
  return %p : tensor<12xf32>
}

//--- not proved: stride
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[0] [3] [1] : tensor<8xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[0] [3] [2] : tensor<8xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}

//--- not proved: offset
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[0] [3] [1] : tensor<8xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[1] [3] [1] : tensor<8xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}

//--- not proved: order
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %s = tensor.concat dim(0) %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %s = tensor.concat dim(0) %y, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}

//--- not proved: unwritten times 0
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %z = arith.constant 0.0 : f32
    %t = arith.mulf %z, %q : f32
    %s = arith.addf %p, %t : f32
    linalg.yield %s : f32 } -> tensor<8xf32>
  return %g : tensor<8xf32>
}

//--- not proved: unwritten minus itself
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %t = arith.subf %q, %q : f32
    %s = arith.addf %p, %t : f32
    linalg.yield %s : f32 } -> tensor<8xf32>
  return %g : tensor<8xf32>
}

//--- proved: not read
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %x[0] [8] [1] : tensor<8xf32> to tensor<8xf32>
  return %s : tensor<8xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %z = arith.constant 0.0 : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32 } -> tensor<8xf32>
  return %g : tensor<8xf32>
}

//--- proved: all written
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %s = tensor.concat dim(0) %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %a = tensor.insert_slice %x into %e[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %b = tensor.insert_slice %y into %a[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %b : tensor<16xf32>
}

//--- not proved: a hole
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %s = tensor.concat dim(0) %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %a = tensor.insert_slice %x into %e[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %b = tensor.insert_slice %y into %a[7] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %b : tensor<16xf32>
}

//--- not proved: of unwritten two elements
func.func @b(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = arith.constant dense<0.0> : tensor<8xf32>
  return %z : tensor<8xf32>
}
func.func @a(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<9xf32>
  %g1 = tensor.extract_slice %e[0] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %g2 = tensor.extract_slice %e[1] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %s = linalg.sub ins(%g1, %g2 : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
