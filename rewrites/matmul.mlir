// Matrix products.

!x = tensor<?x?xf32, #mlc.dims<[m, k]>>
!y = tensor<?x?xf32, #mlc.dims<[m, n]>>
!w = tensor<?x?xf32, #mlc.dims<[k, n]>>
!s = tensor<1x?xf32, #mlc.dims<[1, n]>>
!v = tensor<?xf32, #mlc.dims<[n]>>

rule.def @fold_batch_norm_into_matmul "a batch norm behind a matrix product becomes part of the right operand and a bias" {
  func.func @before(%x: !x, %w: !w {rule.constant}, %scale: !v {rule.constant}, %bias: !v {rule.constant}, %mean: !v {rule.constant}, %variance: !v {rule.constant}) -> !y {
    %0 = mlc.matmul %x, %w : (!x, !w) -> !y
    %1 = mlc.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = #mlc.real<eps>} : (!y, !v, !v, !v, !v) -> !y
    return %1 : !y
  }
  func.func @after(%x: !x, %w: !w, %scale: !v, %bias: !v, %mean: !v, %variance: !v) -> !y {
    %eps = mlc.fill {dims = #mlc.dims<[n]>, value = #mlc.real<eps>, type = f32} : () -> !v
    %0 = mlc.add %variance, %eps : (!v, !v) -> !v
    %1 = mlc.sqrt %0 : (!v) -> !v
    %factor = mlc.div %scale, %1 : (!v, !v) -> !v
    %2 = mlc.mul %mean, %factor : (!v, !v) -> !v
    %new_bias = mlc.sub %bias, %2 : (!v, !v) -> !v
    %3 = mlc.reshape %factor {dims = #mlc.dims<[1, n]>} : (!v) -> !s
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[k, n]>} : (!s) -> !w
    %weights = mlc.mul %w, %4 : (!w, !w) -> !w
    %5 = mlc.matmul %x, %weights : (!x, !w) -> !y
    %6 = mlc.reshape %new_bias {dims = #mlc.dims<[1, n]>} : (!v) -> !s
    %7 = mlc.broadcast %6 {dims = #mlc.dims<[m, n]>} : (!s) -> !y
    %8 = mlc.add %5, %7 : (!y, !y) -> !y
    return %8 : !y
  }
}
