// What the whole phases make of a model, pass by pass.
// RUN: mlc-opt %s --mlc-add-training-step="loss=mse states=true" --mlc-distribute-training="ranks=2 zero=2 prefetch-limit=64" | FileCheck %s --check-prefix=WINDOW
// RUN: mlc-opt %s --mlc-add-training-step="loss=mse states=true apart=true compute-alone=true" --mlc-distribute-training="ranks=2 server=true" --mlc-partition --mlc-check-workers | FileCheck %s --check-prefix=WORKER
// RUN: not mlc-opt %s --mlc-add-training-step="loss=mse states=true" --mlc-distribute-training="ranks=2" --mlc-partition --mlc-check-workers 2>&1 | FileCheck %s --check-prefix=EXCHANGE
// RUN: sed -e 's/mlc.parameter = dense<0.5>/mlc.state = "weight\/w", mlc.initial = dense<0.5>/' -e '1i module attributes {mlc.roles = {"weight/w" = ["statistic", "w"]}} {' -e '$a }' %s > %t && not mlc-opt %t --mlc-distribute-training="ranks=2 server=true" 2>&1 | FileCheck %s --check-prefix=STATISTIC
// RUN: mlc-opt %t --mlc-distribute-training="ranks=2 zero=3" | FileCheck %s --check-prefix=WHOLE
// EXCHANGE: needs something of all samples of a batch, which workers of a server do not exchange
// STATISTIC: moves 'w' by statistics of batches, of which a server sees nothing

// WINDOW: module attributes {dist.mesh = [#dist.axis<"data", 2>], dist.prefetch_limit = 64 : i64, mlc.roles

// Its loss is a term, and its gradient its own.
// WORKER: func.func @accumulate(
// WORKER-SAME: tensor<4x4xf32> {{[^>]*}}"data"
// WORKER-NOT: dist.{{[a-z_]+}} %
// WORKER: return

// A statistic has all its elements on every rank, whatever else is split.
// WHOLE: {dist.sharding = #dist.sharding<["", ""]>, {{.*}}mlc.state = "weight/w"}
func.func @main(%x: tensor<8x4xf32> {mlc.name = "x"},
    %w: tensor<4x2xf32> {mlc.name = "w", mlc.parameter = dense<0.5> : tensor<4x2xf32>})
    -> (tensor<8x2xf32> {mlc.name = "y"}) {
  %y = mlc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
