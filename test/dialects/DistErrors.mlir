// What collectives and shardings refuse.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op requires an operand}}
  dist.all_reduce {axis = #dist.axis<"a", 2>, reduction = "sum"} : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op requires a result for each of 2 operands, got 1}}
  %0 = dist.all_reduce %x, %x {axis = #dist.axis<"a", 2>, reduction = "sum"} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op requires operands of one element type, got 'f32' and 'i64'}}
  %0:2 = dist.all_reduce %x, %i {axis = #dist.axis<"a", 2>, reduction = "sum"} : (tensor<4x6xf32>, tensor<4xi64>) -> (tensor<4x6xf32>, tensor<4xi64>)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.broadcast' op requires operands with named dims, got 'tensor<?xf32>'}}
  %0 = dist.broadcast %u {axis = #dist.axis<"a", 2>, root = 0} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op requires sum, prod, max or min, got mean}}
  %0 = dist.all_reduce %x {axis = #dist.axis<"a", 2>, reduction = "mean"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.reduce_scatter' op requires sum, prod, max or min, got mean}}
  %0 = dist.reduce_scatter %x {axis = #dist.axis<"a", 2>, dims = array<i64: 0>, extents = #mlc.dims<[4]>, units = #mlc.dims<[1]>, reduction = "mean"} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.halo' op requires a dim in [0, 2), got 2}}
  %0 = dist.halo %x {axis = #dist.axis<"a", 2>, dim = 2, low = 1, high = 1} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_gather' op requires a dim in [0, 2), got -1}}
  %0 = dist.all_gather %x {axis = #dist.axis<"a", 2>, dims = array<i64: -1>, extents = #mlc.dims<[8]>, units = #mlc.dims<[1]>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_gather' op requires a dim, an extent and a unit for each of 1 operands}}
  %0 = dist.all_gather %x {axis = #dist.axis<"a", 2>, dims = array<i64: 0>, extents = #mlc.dims<[8, 8]>, units = #mlc.dims<[1]>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_gather' op requires a dim of 5, got 4}}
  %0 = dist.all_gather %x {axis = #dist.axis<"a", 2>, dims = array<i64: 0>, extents = #mlc.dims<[10]>, units = #mlc.dims<[1]>} : (tensor<4x6xf32>) -> tensor<10x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.reduce_scatter' op requires a dim of 6, got 4}}
  %0 = dist.reduce_scatter %x {axis = #dist.axis<"a", 2>, dims = array<i64: 0>, extents = #mlc.dims<[2]>, units = #mlc.dims<[3]>, reduction = "sum"} : (tensor<4x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op requires two dims, got 1 twice}}
  %0 = dist.all_to_all %x {axis = #dist.axis<"a", 2>, split = 1, splitExtent = #mlc.int<6>, join = 1, joinExtent = #mlc.int<12>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op requires a whole dim to split of 8, got 4}}
  %0 = dist.all_to_all %x {axis = #dist.axis<"a", 2>, split = 0, splitExtent = #mlc.int<8>, join = 1, joinExtent = #mlc.int<12>} : (tensor<4x6xf32>) -> tensor<4x12xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.all_to_all' op requires a part to join of 7, got 6}}
  %0 = dist.all_to_all %x {axis = #dist.axis<"a", 2>, split = 0, splitExtent = #mlc.int<4>, join = 1, joinExtent = #mlc.int<14>} : (tensor<4x6xf32>) -> tensor<2x14xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.broadcast' op requires a root among the ranks of the axis, got 2}}
  %0 = dist.broadcast %x {axis = #dist.axis<"a", 2>, root = 2} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.halo' op requires halos that are not negative, got -1 and 0}}
  %0 = dist.halo %x {axis = #dist.axis<"a", 2>, dim = 0, low = -1, high = 0} : (tensor<4x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{'dist.shift' op result #0 must be 'tensor<4x6xf32>', got 'tensor<4x5xf32>'}}
  %0 = dist.shift %x {axis = #dist.axis<"a", 2>, by = 1} : (tensor<4x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{an axis has a name and at least one rank}}
  %0 = dist.shift %x {axis = #dist.axis<"", 2>, by = 1} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<4xi64>, %u: tensor<?xf32>) {
  // expected-error @+1 {{an axis has a name and at least one rank}}
  %0 = dist.shift %x {axis = #dist.axis<"a", 0>, by = 1} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// expected-error @+1 {{an axis splits one dim, or is partial}}
func.func @f(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<["a", "a"]>}) {
  return
}

// -----

// expected-error @+1 {{an axis splits one dim, or is partial}}
func.func @f(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<["a", ""], partial = ["a"]>}) {
  return
}

// -----

// expected-error @+1 {{expected sum, prod, max or min}}
func.func @f(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["a" mean]>}) {
  return
}

// -----

// expected-error @+1 {{expected sum, prod, max or min}}
func.func @f(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<["", ""], partial = ["a" most]>}) {
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.halo' op requires parts of 5 elements, which neighbours ask for, got 4}}
  %0 = dist.halo %x {axis = #dist.axis<"a", 2>, dim = 0, low = 1, high = 5} : (tensor<4x6xf32>) -> tensor<10x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.all_reduce' op has the algorithm 'zz', which there is not; there are own, server, colocated, naive, ring, tree, butterfly, halving-doubling}}
  %0 = dist.all_reduce %x {axis = #dist.axis<"a", 2>, reduction = "sum", algorithm = "zz"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dist.all_gather' op requires units of at least 1, got -1}}
  %0 = dist.all_gather %x {axis = #dist.axis<"a", 2>, dims = array<i64: 0>, extents = #mlc.dims<[8]>, units = #mlc.dims<[-1]>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

// expected-error @+1 {{an axis splits one dim, or is partial}}
func.func @f(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<[["b", "a"], "a"]>}) {
  return
}

// -----

// expected-error @+1 {{expected the name of an axis}}
func.func @f(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<[["a", ""], ""]>}) {
  return
}
