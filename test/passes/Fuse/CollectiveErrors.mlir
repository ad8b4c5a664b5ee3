// RUN: mlc-opt %s --mlc-lower-to-linalg --mlc-fuse --split-input-file --verify-diagnostics

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @main(%x: tensor<2x3xf32> {mlc.name = "x"}) -> tensor<2x12xf32> {
    // expected-error @+1 {{splits dim 1, whose parts do not lie together; run mlc-lower-collectives first}}
    %y = dist.all_gather %x {axis = #dist.axis<"data", 4>, dims = array<i64: 1>, extents = #mlc.dims<[12]>, units = #mlc.dims<[1]>} : (tensor<2x3xf32>) -> tensor<2x12xf32>
    return %y : tensor<2x12xf32>
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @main(%x: tensor<8x3xf32> {mlc.name = "x"}) -> tensor<2x12xf32> {
    // expected-error @+1 {{has parts that do not lie together; run mlc-lower-collectives first}}
    %y = dist.all_to_all %x {axis = #dist.axis<"data", 4>, split = 0 : i64, splitExtent = #mlc.int<8>, join = 1 : i64, joinExtent = #mlc.int<12>} : (tensor<8x3xf32>) -> tensor<2x12xf32>
    return %y : tensor<2x12xf32>
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @main(%x: tensor<4xf32> {mlc.name = "x"}) -> tensor<6xf32> {
    // expected-error @+1 {{is no exchange of whole tensors; run mlc-lower-collectives first}}
    %y = dist.halo %x {axis = #dist.axis<"data", 4>, dim = 0 : i64, low = 1 : i64, high = 1 : i64} : (tensor<4xf32>) -> tensor<6xf32>
    return %y : tensor<6xf32>
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 2>]} {
  func.func @main(%x: tensor<4xf32> {mlc.name = "x"}) -> tensor<4xf32> {
    // expected-error @+1 {{is among the ranks of #dist.axis<"data", 4>, which is no axis of the module's dist.mesh}}
    %y = dist.shift %x {axis = #dist.axis<"data", 4>, by = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{the state 'w' is split over "row", which is no axis of dist.mesh}}
module attributes {dist.mesh = [#dist.axis<"data", 2>]} {
  func.func @main(%w: tensor<4xf32> {mlc.state = "w", dist.sharding = #dist.sharding<["row"]>}) -> tensor<4xf32> {
    return %w : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{the state 'w' has the sharding #dist.sharding<["data"]>, which is not one of its dims}}
module attributes {dist.mesh = [#dist.axis<"data", 2>]} {
  func.func @main(%w: tensor<4x2xf32> {mlc.state = "w", dist.sharding = #dist.sharding<["data"]>}) -> tensor<4x2xf32> {
    return %w : tensor<4x2xf32>
  }
}

// -----

// expected-error @+1 {{the state 'w' has a dim of rank.data + 1, which is no fixed size, or not a rank's part of one}}
module attributes {dist.mesh = [#dist.axis<"data", 2>]} {
  func.func @main(%w: tensor<?xf32, #mlc.dims<[rank.data + 1]>> {mlc.state = "w", dist.sharding = #dist.sharding<["data"]>}) -> tensor<?xf32, #mlc.dims<[rank.data + 1]>> {
    return %w : tensor<?xf32, #mlc.dims<[rank.data + 1]>>
  }
}
