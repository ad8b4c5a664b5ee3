// Entries that no batch can be split of.
// RUN: mlc-opt %s --mlc-distribute-training="ranks=2" --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 must be a ranked tensor with named dims, got 'tensor<?xf32>'}}
func.func @f(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error @+1 {{argument 1 must be a ranked tensor with named dims, got 'index'}}
func.func @f(%x: tensor<8xf32>, %n: index) {
  return
}
