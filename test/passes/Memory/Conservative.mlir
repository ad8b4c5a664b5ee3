// What runs once: steps that write outputs, the library's, and whatever touches
// an op that the pass does not know. What they read is kept.
// RUN: mlc-opt --mlc-rematerialize=budget=4096 --split-input-file --verify-diagnostics %s | FileCheck %s

// Nothing of that: the parts of %both are computed again, one by one.
// CHECK-LABEL: exec.program @parts
// CHECK: exec.launch @k(%[[X:.+]]) -> (%{{.+}}) args <[]> nodes ["left"]
// CHECK: exec.launch @k(%[[X]]) -> (%{{.+}}) args <[]> nodes ["right"]
// CHECK: nodes ["reads both"]
// CHECK: nodes ["large"]
// CHECK: %[[LEFT:.+]] = exec.alias %[[COPY:.+]][#mlc.int<0>]
// CHECK: exec.launch @k(%[[X]]) -> (%[[LEFT]]) args <[]> nodes ["left"]
// CHECK: %[[RIGHT:.+]] = exec.alias %[[COPY]][#mlc.int<512>]
// CHECK: exec.launch @k(%[[X]]) -> (%[[RIGHT]]) args <[]> nodes ["right"]
// CHECK: exec.launch @k(%{{.+}}, %[[COPY]]) -> (%{{.+}}) args <[]> nodes ["reads both again"]
exec.program @parts {
  %x = exec.input 0 : f32 <[128]> {name = "x"}
  %both = exec.alloc : f32 <[256]>
  %left = exec.alias %both[#mlc.int<0>] : f32 <[128]>
  exec.launch @k(%x) -> (%left) args <[]> nodes ["left"]
  %right = exec.alias %both[#mlc.int<512>] : f32 <[128]>
  exec.launch @k(%x) -> (%right) args <[]> nodes ["right"]
  %0 = exec.alloc : f32 <[256]>
  exec.launch @k(%both) -> (%0) args <[]> nodes ["reads both"]
  %1 = exec.alloc : f32 <[768]>
  exec.launch @k(%0) -> (%1) args <[]> nodes ["large"]
  %2 = exec.alloc : f32 <[128]>
  exec.launch @k(%1) -> (%2) args <[]> nodes ["small"]
  %3 = exec.alloc : f32 <[256]>
  exec.launch @k(%2, %both) -> (%3) args <[]> nodes ["reads both again"]
  exec.output "y" %3
}

// -----

// Written twice: the first reader wants what was there before.
// expected-error @+1 {{a memory budget of 4096 bytes (0.00 MiB) is below what any order of the steps needs, 5120 bytes (0.00 MiB)}}
exec.program @overwritten {
  %x = exec.input 0 : f32 <[128]> {name = "x"}
  %both = exec.alloc : f32 <[256]>
  exec.launch @k(%x) -> (%both) args <[]> nodes []
  exec.launch @k(%x) -> (%both) args <[]> nodes []
  %0 = exec.alloc : f32 <[256]>
  exec.launch @k(%both) -> (%0) args <[]> nodes []
  %1 = exec.alloc : f32 <[768]>
  exec.launch @k(%0) -> (%1) args <[]> nodes []
  %2 = exec.alloc : f32 <[128]>
  exec.launch @k(%1) -> (%2) args <[]> nodes []
  %3 = exec.alloc : f32 <[256]>
  exec.launch @k(%2, %both) -> (%3) args <[]> nodes []
  exec.output "y" %3
}

// -----

// expected-error @+1 {{is below what any order of the steps needs, 5120 bytes (0.00 MiB)}}
exec.program @library {
  %x = exec.input 0 : f32 <[128]> {name = "x"}
  %both = exec.alloc : f32 <[256]>
  exec.library "call"(%x) -> (%both) args <[]> nodes []
  %0 = exec.alloc : f32 <[256]>
  exec.launch @k(%both) -> (%0) args <[]> nodes []
  %1 = exec.alloc : f32 <[768]>
  exec.launch @k(%0) -> (%1) args <[]> nodes []
  %2 = exec.alloc : f32 <[128]>
  exec.launch @k(%1) -> (%2) args <[]> nodes []
  %3 = exec.alloc : f32 <[256]>
  exec.launch @k(%2, %both) -> (%3) args <[]> nodes []
  exec.output "y" %3
}

// -----

// An op of tomorrow.
// expected-error @+1 {{is below what any order of the steps needs, 5120 bytes (0.00 MiB)}}
exec.program @unknown {
  %x = exec.input 0 : f32 <[128]> {name = "x"}
  %both = exec.alloc : f32 <[256]>
  exec.launch @k(%x) -> (%both) args <[]> nodes []
  %state = builtin.unrealized_conversion_cast %both : !exec.buffer to !exec.buffer
  %0 = exec.alloc : f32 <[256]>
  exec.launch @k(%both) -> (%0) args <[]> nodes []
  %1 = exec.alloc : f32 <[768]>
  exec.launch @k(%0) -> (%1) args <[]> nodes []
  %2 = exec.alloc : f32 <[128]>
  exec.launch @k(%1, %state) -> (%2) args <[]> nodes []
  %3 = exec.alloc : f32 <[256]>
  exec.launch @k(%2, %both) -> (%3) args <[]> nodes []
  exec.output "y" %3
}

// -----

exec.program @open {
  exec.symbol "N" from input 0 dim 0
  // expected-error @+1 {{memory can be limited only where all sizes are fixed, and the dim N is open}}
  %x = exec.input 0 : f32 <[N]> {name = "x"}
  %0 = exec.alloc : f32 <[N]>
  exec.launch @k(%x) -> (%0) args <[N]> nodes []
  exec.output "y" %0
}

// -----

exec.program @bound {
  %x = exec.input 0 : i64 <[1]> {name = "x"}
  // expected-error @+1 {{memory can be limited only where all sizes are fixed, and the dim M follows from a tensor's elements}}
  exec.bind "M" from %x[0]
}

// -----

exec.program @unwritten {
  %0 = exec.alloc : f32 <[2048]>
  %1 = exec.alloc : f32 <[2048]>
  // expected-error @+1 {{reads a buffer that no step before it has written}}
  exec.launch @k(%0) -> (%1) args <[]> nodes []
}

// -----

// What ranks have summed is not summed again.
// expected-error @+1 {{is below what any order of the steps needs, 5120 bytes (0.00 MiB)}}
exec.program @collective {
  %x = exec.input 0 : f32 <[128]> {name = "x"}
  %both = exec.alloc : f32 <[256]>
  exec.launch @k(%x) -> (%both) args <[]> nodes []
  exec.start 0 "all_reduce" over "data"(%both) -> (%both) args <[256]> reduction "sum" nodes []
  exec.wait 0(%both) -> (%both)
  %0 = exec.alloc : f32 <[256]>
  exec.launch @k(%both) -> (%0) args <[]> nodes []
  %1 = exec.alloc : f32 <[768]>
  exec.launch @k(%0) -> (%1) args <[]> nodes []
  %2 = exec.alloc : f32 <[128]>
  exec.launch @k(%1) -> (%2) args <[]> nodes []
  %3 = exec.alloc : f32 <[256]>
  exec.launch @k(%2, %both) -> (%3) args <[]> nodes []
  exec.output "y" %3
}
