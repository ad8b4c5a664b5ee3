// RUN: mlc-opt %s --mlc-distribute-training="ranks=3" | FileCheck %s --check-prefixes=CHECK,DDP
// RUN: mlc-opt %s --mlc-distribute-training="ranks=3 zero=1" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: mlc-opt %s --mlc-distribute-training="ranks=3 zero=2" | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: mlc-opt %s --mlc-distribute-training="ranks=3 zero=3" | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: not mlc-opt %s --mlc-distribute-training="ranks=7" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not mlc-opt %s --mlc-distribute-training="ranks=3 zero=4" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: mlc-opt %s --mlc-distribute-training="ranks=3 zero=3 mesh=stage=2,tensor=2 shard=w=-:tensor,b=tensor" | FileCheck %s --check-prefix=AXES
// RUN: not mlc-opt %s --mlc-distribute-training="ranks=3 mesh=tensor=2 shard=v=tensor" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mlc-opt %s --mlc-distribute-training="ranks=3 mesh=tensor=2 shard=b=-:tensor" 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: not mlc-opt %s --mlc-distribute-training="ranks=3 mesh=tensor=2 shard=b=data" 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: not mlc-opt %s --mlc-distribute-training="ranks=3 mesh=tensor=2 shard=x=tensor" 2>&1 | FileCheck %s --check-prefix=SAMPLES
// NAME: no trained weight, input or node is called 'v'
// DIMS: 'b' has 1 dims, and the sharding of 'b' says how 2 are split
// DATA: the weight 'b' is split over the axis data, which splits samples; ZeRO splits weights over it
// SAMPLES: the input "x" is split into samples over the axis data, not over 'tensor'; give data, or -, for its first dim
// ZeRO takes a dim that no other axis splits.
// AXES: module attributes {dist.mesh = [#dist.axis<"data", 3>, #dist.axis<"stage", 2>, #dist.axis<"tensor", 2>]
// AXES: func.func @accumulate(
// AXES-SAME: tensor<6x4xf32> {dist.sharding = #dist.sharding<["data", ""]>
// AXES-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["data", "tensor"]>, mlc.state = "weight/w"}
// AXES: func.func @apply(
// AXES-SAME: tensor<2xf32> {dist.sharding = #dist.sharding<["tensor"]>, mlc.state = "momentum/b"}
// FEW: a batch of 6 samples is not one for 7 ranks, each of which takes one at least{{$}}
// STAGE: needs ranks from 1 on and a stage of ZeRO from 0 to 3

// CHECK: module attributes {dist.mesh = [#dist.axis<"data", 3>], mlc.roles
// CHECK: func.func @accumulate(
// CHECK-SAME: tensor<6x4xf32> {dist.sharding = #dist.sharding<["data", ""]>
// CHECK-SAME: tensor<f32> {mlc.name = "keep"}
// A dim that is split evenly goes before the first.
// DDP-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.state = "weight/w"}
// DDP-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["data"]>, mlc.initial
// ONE-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.state = "weight/w"}
// ONE-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["data"]>, mlc.initial
// TWO-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.state = "weight/w"}
// TWO-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "data"]>, mlc.initial
// THREE-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "data"]>, mlc.state = "weight/w"}
// THREE-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "data"]>, mlc.initial
// CHECK-SAME: -> (tensor<f32> {dist.sharding = #dist.sharding<[]>, mlc.name = "loss"}
module attributes {mlc.roles = {"weight/w" = ["weight", "w"], "gradient/w" = ["gradient sum", "w"],
    "momentum/w" = ["moment", "w"], "momentum/b" = ["moment", "b"]}} {
func.func @accumulate(%x: tensor<6x4xf32> {mlc.name = "x"}, %keep: tensor<f32> {mlc.name = "keep"},
    %w: tensor<4x6xf32> {mlc.state = "weight/w"},
    %g: tensor<4x6xf32> {mlc.initial = dense<0.0> : tensor<4x6xf32>, mlc.state = "gradient/w"})
    -> (tensor<f32> {mlc.name = "loss"}, tensor<4x6xf32> {mlc.state = "gradient/w"}) {
  return %keep, %g : tensor<f32>, tensor<4x6xf32>
}

// What the optimizer keeps; the bias of two elements stays whole for three ranks.
// CHECK: func.func @apply(
// DDP-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""]>, mlc.initial
// ONE-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "data"]>, mlc.initial
// TWO-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "data"]>, mlc.initial
// THREE-SAME: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", "data"]>, mlc.initial
// CHECK-SAME: tensor<2xf32> {dist.sharding = #dist.sharding<[""]>
func.func @apply(%m: tensor<4x6xf32> {mlc.initial = dense<0.0> : tensor<4x6xf32>, mlc.state = "momentum/w"},
    %b: tensor<2xf32> {mlc.state = "momentum/b"})
    -> (tensor<4x6xf32> {mlc.state = "momentum/w"}, tensor<2xf32> {mlc.state = "momentum/b"}) {
  return %m, %b : tensor<4x6xf32>, tensor<2xf32>
}
}
