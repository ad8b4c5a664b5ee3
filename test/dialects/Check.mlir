// A condition on dims stands in the module, with a predicate of the list.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s
// RUN: sed 's/"le"/"over"/' %s | not mlc-opt 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: sed 's/^mlc.check.*//; s/^  return/  mlc.check #mlc.int<n> "eq" #mlc.int<4>, "four"\n  return/' %s | not mlc-opt 2>&1 | FileCheck %s --check-prefix=PLACE

// CHECK: mlc.check #mlc.int<2 * n> "le" #mlc.int<8>, "Concat_1: at most eight"
// WORD: 'mlc.check' op attribute 'predicate' failed to satisfy constraint: eq, ne, lt, le, gt or ge
// PLACE: 'mlc.check' op expects parent op 'builtin.module'
mlc.check #mlc.int<2 * n> "le" #mlc.int<8>, "Concat_1: at most eight"
func.func @main(%x: tensor<?xf32, #mlc.dims<[n]>>) {
  return
}
