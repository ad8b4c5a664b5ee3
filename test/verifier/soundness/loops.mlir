// Loops that hand on several tensors, read what they handed on, or start elsewhere.
// RUN: %python %source/test/verifier/soundness/verdicts.py mlc-verify %s

!x = tensor<?xf32>

//--- not proved: x or y
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %a, %b2 : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %a, %b2 : !x, !x
  }
  return %r#1 : !x
}

//--- proved: what is handed on as it is may be read from outside
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %a, %b2 : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %a, %b2 : !x, !x
  }
  return %r#1 : !x
}

//--- not proved: the other tensor grows while it is read
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2, %b2 : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %b2 = tensor.insert_slice %s into %bb[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %b2, %b2 : !x, !x
  }
  return %r#1 : !x
}

//--- not proved: two tensors change places
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    scf.yield %bb, %a : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    scf.yield %a, %bb : !x, !x
  }
  return %r#1 : !x
}

//--- not proved: two tensors change places, of other tensors
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    scf.yield %bb, %a : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %bb = %o) -> (!x, !x) {
    scf.yield %bb, %a : !x, !x
  }
  return %r#1 : !x
}

//--- not proved: reads what it has written
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %a2 = tensor.insert_slice %s into %a[0] [1] [1] : tensor<1xf32> into !x
    scf.yield %a2, %bb : !x, !x
  }
  return %r#0 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %bb = %o) -> (!x, !x) {
    %s = tensor.extract_slice %a[%i] [1] [1] : !x to tensor<1xf32>
    %a2 = tensor.insert_slice %s into %a[0] [1] [1] : tensor<1xf32> into !x
    scf.yield %a2, %bb : !x, !x
  }
  return %r#0 : !x
}

//--- not proved: an inner loop reads what the outer one hands on
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%d = %bb) -> (!x) {
      %s = tensor.extract_slice %a[%j] [1] [1] : !x to tensor<1xf32>
      %d2 = tensor.insert_slice %s into %d[%j] [1] [1] : tensor<1xf32> into !x
      scf.yield %d2 : !x
    }
    %a2 = tensor.insert_slice %one into %a[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %a2, %q : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %bb = %o) -> (!x, !x) {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%d = %bb) -> (!x) {
      %s = tensor.extract_slice %a[%j] [1] [1] : !x to tensor<1xf32>
      %d2 = tensor.insert_slice %s into %d[%j] [1] [1] : tensor<1xf32> into !x
      scf.yield %d2 : !x
    }
    %a2 = tensor.insert_slice %one into %a[%i] [1] [1] : tensor<1xf32> into !x
    scf.yield %a2, %q : !x, !x
  }
  return %r#1 : !x
}

//--- not proved: one element less
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %r:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %m = arith.subi %n, %c1 : index
    %s = tensor.extract_slice %a[0] [%m] [1] : !x to !x
    scf.yield %s, %bb : !x, !x
  }
  return %r#0 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  return %x : !x
}

//--- not proved: a variable below 0
func.func @b(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %cm = arith.constant -3 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %cm to %c2 step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %t = arith.maxsi %i, %c0 : index
    %s = tensor.extract_slice %x[%t] [1] [1] : !x to tensor<1xf32>
    %t3 = arith.addi %i, %c3 : index
    %b2 = tensor.insert_slice %s into %bb[%t3] [1] [1] : tensor<1xf32> into !x
    scf.yield %a, %b2 : !x, !x
  }
  return %r#1 : !x
}
func.func @a(%x: !x, %y: !x, %o: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : !x
  %cm = arith.constant -3 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %cm to %c2 step %c1 iter_args(%a = %x, %bb = %o) -> (!x, !x) {
    %t = arith.maxsi %i, %c0 : index
    %s = tensor.extract_slice %x[%i] [1] [1] : !x to tensor<1xf32>
    %t3 = arith.addi %i, %c3 : index
    %b2 = tensor.insert_slice %s into %bb[%t3] [1] [1] : tensor<1xf32> into !x
    scf.yield %a, %b2 : !x, !x
  }
  return %r#1 : !x
}
