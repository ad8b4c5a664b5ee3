// What cannot be partitioned, and what to do about it.
// RUN: mlc-opt %s --mlc-partition --split-input-file --verify-diagnostics

// expected-error @+1 {{has no dist.mesh to be partitioned over; give it one, a list of #dist.axis}}
module {
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  // expected-error @+1 {{argument 0 must have a #dist.sharding with 2 dims as its dist.sharding}}
  func.func @f(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<["data"]>}) {
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  // expected-error @+1 {{result 0 is split over 'model', which is no axis of the module's dist.mesh}}
  func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32> {dist.sharding = #dist.sharding<["model"]>}) {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  // expected-error @+1 {{argument 0 is a part already (dist.whole); partition a function once}}
  func.func @f(%x: tensor<2xf32> {dist.sharding = #dist.sharding<["data"]>, dist.whole = #mlc.dims<[8]>}) {
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  // expected-error @+1 {{argument 0 must be a ranked tensor with named dims, got 'tensor<?xf32>'}}
  func.func @f(%x: tensor<?xf32>) {
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  // expected-error @+1 {{argument 0 is split along the open dim B}}
  func.func @f(%x: tensor<?xf32, #mlc.dims<[B]>> {dist.sharding = #dist.sharding<["data"]>}) {
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 4>]} {
  func.func @f(%x: tensor<8xf32> {mlc.state = "s", dist.sharding = #dist.sharding<["data"]>}) {
    return
  }
  // expected-error @+1 {{has the state "s" with #dist.sharding<[""]>, and elsewhere it has #dist.sharding<["data"]>; a state has one sharding}}
  func.func @g(%x: tensor<8xf32> {mlc.state = "s", dist.sharding = #dist.sharding<[""]>}) {
    return
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"a", 2>, #dist.axis<"b", 2>]} {
  // expected-error @+1 {{result 0 is partial on two axes by different reductions, and what it is would depend on their order; reduce it over one of them}}
  func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32> {dist.sharding = #dist.sharding<[""], partial = ["a", "b" max]>}) {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {dist.mesh = [#dist.axis<"data", 2>, #dist.axis<"model", 2>]} {
  // expected-error @+1 {{argument 0 has a dim that is split over 'model' before 'data'; give them in the order of dist.mesh}}
  func.func @main(%x: tensor<8xf32> {dist.sharding = #dist.sharding<[["model", "data"]]>}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
