// Programs, printed and read again in their own syntax and in the generic one.
// RUN: %python %S/round_trip.py mlc-opt %s
// RUN: mlc-opt %s | FileCheck %s --implicit-check-not='"exec.'

// CHECK-LABEL: exec.program @main
// CHECK: exec.symbol "n" from input 0 dim 1
// CHECK: exec.coordinate "rank.data" on "data"
// CHECK: exec.check #mlc.int<n> "le" #mlc.int<1024>, "n is at most 1024"
// CHECK: %[[X:.+]] = exec.input 0 : f32 <[2, n]> {name = "x"}
// CHECK: %[[C:.+]] = exec.constant dense<{{.*}}> : tensor<2xi64> : i64 <[2]>
// CHECK: %[[P:.+]] = exec.parameter dense<0.000000e+00> : tensor<0xf32> : f32 <[0]> {name = "p"}
// CHECK: %[[W:.+]] = exec.state "weight/w" : f32 <[2]> {name = "w"}
// CHECK: %[[M:.+]] = exec.state "momentum/w" = dense<0.000000e+00> : tensor<2xf32> : f32 <[2]>
// CHECK: exec.input 1 : f32 <[floordiv(-1 * rank.data, 4) + 2]> split {{\[\["data"\]\]}}
// CHECK: exec.state "v" = dense<0.000000e+00> : tensor<5xf32> : f32 <[floordiv(-1 * rank.data, 4) + 2]> split {{\[\["data"\]\]}} of [5]
// CHECK: exec.bind "k" from %[[C]][1]
// CHECK: %[[Y:.+]] = exec.alloc : f32 <[2 * n]>
// CHECK: %[[Z:.+]] = exec.alias %[[Y]][#mlc.int<4 * n>] : f32 <[n]>
// CHECK: %[[S:.+]] = exec.alloc : i64 <[]>
// CHECK: exec.launch @k0(%[[X]], %[[P]]) -> (%[[Y]]) args <[n, k]> work #mlc.int<2 * n> nodes ["a", "b"]
// CHECK: exec.launch @k0() -> () args <[]> nodes []
// CHECK: exec.library "topk"(%[[Z]]) -> (%[[Z]], %[[S]]) args <[0, 1]> nodes ["c"]
// CHECK: exec.start 0 "all_reduce" over "data"(%[[Y]]) -> (%[[Y]]) args <[2 * n]> reduction "sum" algorithm "ring" nodes ["d"]
// CHECK: exec.start 1 "all_gather" over "data"(%[[W]]) -> (%[[G:.+]]) args <[8, 1]> nodes []
// CHECK: exec.wait 0(%[[Y]]) -> (%[[Y]])
// CHECK: exec.wait 1(%[[W]]) -> (%[[G]])
// CHECK: exec.assign %[[W]], %[[M]]
// CHECK: exec.output "y" %[[Y]]
// CHECK: exec.output "z" %[[Z]] split {{\[\["data"\]\]}}
exec.program @main {
  exec.symbol "n" from input 0 dim 1
  exec.coordinate "rank.data" on "data"
  exec.check #mlc.int<n> "le" #mlc.int<1024>, "n is at most 1024"
  %x = exec.input 0 : f32 <[2, n]> {name = "x"}
  %c = exec.constant dense<[3, 4]> : tensor<2xi64> : i64 <[2]>
  %p = exec.parameter dense<0.0> : tensor<0xf32> : f32 <[0]> {name = "p"}
  %w = exec.state "weight/w" : f32 <[2]> {name = "w"}
  %m = exec.state "momentum/w" = dense<0.0> : tensor<2xf32> : f32 <[2]>
  %part = exec.input 1 : f32 <[floordiv(8 - rank.data, 4)]> split [["data"]]
  %v = exec.state "v" = dense<0.0> : tensor<5xf32> : f32 <[floordiv(8 - rank.data, 4)]> split [["data"]] of [5]
  exec.bind "k" from %c[1]
  %y = exec.alloc : f32 <[n + n]>
  %z = exec.alias %y[#mlc.int<4 * n>] : f32 <[n]>
  %s = exec.alloc : i64 <[]>
  exec.launch @k0(%x, %p) -> (%y) args <[n, k]> work #mlc.int<2 * n> nodes ["a", "b"]
  exec.launch @k0() -> () args <[]> nodes []
  exec.library "topk"(%z) -> (%z, %s) args <[0, 1]> nodes ["c"]
  %g = exec.alloc : f32 <[8]>
  exec.start 0 "all_reduce" over "data"(%y) -> (%y) args <[n + n]> reduction "sum" algorithm "ring" nodes ["d"]
  exec.start 1 "all_gather" over "data"(%w) -> (%g) args <[8, 1]> nodes []
  exec.wait 0(%y) -> (%y)
  exec.wait 1(%w) -> (%g)
  exec.assign %w, %m
  exec.output "y" %y
  exec.output "z" %z split [["data"]]
}

// CHECK-LABEL: func.func @k0
// CHECK: exec.inverse_transform "winograd" %arg0 : tensor<1x36x1x8x8xf32> to tensor<1x1x3x3x8x8xf32>
func.func @k0(%u: tensor<1x36x1x8x8xf32>, %b: !exec.buffer) {
  %w = exec.inverse_transform "winograd" %u : tensor<1x36x1x8x8xf32> to tensor<1x1x3x3x8x8xf32>
  return
}
