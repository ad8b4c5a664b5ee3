// Rules, printed and read again in their own syntax and in the generic one.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='"rule.'

// CHECK-LABEL: rule.def @all "every condition" attributes {lowering} {
// CHECK-NEXT: rule.require k - 1 le p or s divides h
// CHECK-NEXT: rule.require n eq 0 or n ne 1 or n lt 2 or n gt 3 or n ge 4 {note = "kept"}
// CHECK-NEXT: rule.assume_real e gt 0.000000e+00 {note = "kept"}
// CHECK-NEXT: rule.assume_real "an epsilon" le 0x7FF0000000000000
// CHECK-NEXT: func.func @before(%arg0: tensor<?xf32, #mlc.dims<[n]>> {rule.constant}, %arg1: tensor<f32> {rule.allequal, rule.finite, rule.nonnegative, rule.nonzero, rule.positive})
rule.def @all "every condition" attributes {lowering} {
  rule.require -1 + k le p or s divides h
  rule.require n eq 0 or n ne 1 or n lt 2 or n gt 3 or n ge 4 {note = "kept"}
  rule.assume_real e gt 0.0 {note = "kept"}
  rule.assume_real "an epsilon" le 0x7FF0000000000000
  func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>> {rule.constant}, %y: tensor<f32> {rule.positive, rule.nonnegative, rule.nonzero, rule.finite, rule.allequal}) -> tensor<?xf32, #mlc.dims<[n]>> {
    return %x : tensor<?xf32, #mlc.dims<[n]>>
  }
  func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>, %y: tensor<f32>) -> tensor<?xf32, #mlc.dims<[n]>> {
    return %x : tensor<?xf32, #mlc.dims<[n]>>
  }
}
