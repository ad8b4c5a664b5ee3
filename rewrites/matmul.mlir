// Matrix products: batch norms, transposes, products that share weights.

!x = tensor<?x?xf32, #mlc.dims<[m, k]>>
!y = tensor<?x?xf32, #mlc.dims<[m, n]>>
!w = tensor<?x?xf32, #mlc.dims<[k, n]>>
!s = tensor<1x?xf32, #mlc.dims<[1, n]>>
!v = tensor<?xf32, #mlc.dims<[n]>>

rule.def @fold_batch_norm_into_matmul "a batch norm behind a matrix product becomes part of the right operand and a bias" {
  rule.assume constant 1
  rule.assume constant 2
  rule.assume constant 3
  rule.assume constant 4
  rule.assume constant 5
  func.func @before(%x: !x, %w: !w, %scale: !v, %bias: !v, %mean: !v, %variance: !v) -> !y {
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
    %shift = mlc.sub %bias, %2 : (!v, !v) -> !v
    %3 = mlc.reshape %factor {dims = #mlc.dims<[1, n]>} : (!v) -> !s
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[k, n]>} : (!s) -> !w
    %weights = mlc.mul %w, %4 : (!w, !w) -> !w
    %5 = mlc.matmul %x, %weights : (!x, !w) -> !y
    %6 = mlc.reshape %shift {dims = #mlc.dims<[1, n]>} : (!v) -> !s
    %7 = mlc.broadcast %6 {dims = #mlc.dims<[m, n]>} : (!s) -> !y
    %8 = mlc.add %5, %7 : (!y, !y) -> !y
    return %8 : !y
  }
}

!xt = tensor<?x?xf32, #mlc.dims<[k, m]>>
!wt = tensor<?x?xf32, #mlc.dims<[n, k]>>
!yt = tensor<?x?xf32, #mlc.dims<[n, m]>>

rule.def @matmul_of_transposed "the product of transposes is the transpose of the swapped product" {
  func.func @before(%a: !xt, %b: !wt) -> !y {
    %0 = mlc.transpose %a {permutation = array<i64: 1, 0>} : (!xt) -> !x
    %1 = mlc.transpose %b {permutation = array<i64: 1, 0>} : (!wt) -> !w
    %2 = mlc.matmul %0, %1 : (!x, !w) -> !y
    return %2 : !y
  }
  func.func @after(%a: !xt, %b: !wt) -> !y {
    %0 = mlc.matmul %b, %a : (!wt, !xt) -> !yt
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!yt) -> !y
    return %1 : !y
  }
}

// The steps of a recurrent network share weights: these are read once then, not
// once a step.
!rxa = tensor<?x?xf32, #mlc.dims<[a, k]>>
!rxb = tensor<?x?xf32, #mlc.dims<[b, k]>>
!rxab = tensor<?x?xf32, #mlc.dims<[a + b, k]>>
!rw = tensor<?x?xf32, #mlc.dims<[k, n]>>
!rya = tensor<?x?xf32, #mlc.dims<[a, n]>>
!ryb = tensor<?x?xf32, #mlc.dims<[b, n]>>
!ryab = tensor<?x?xf32, #mlc.dims<[a + b, n]>>

rule.def @merge_matmuls_of_one_right_operand "two products with one right operand become one, then two slices of its rows" {
  rule.assume constant 2
  func.func @before(%x1: !rxa, %x2: !rxb, %w: !rw) -> (!rya, !ryb) {
    %0 = mlc.matmul %x1, %w : (!rxa, !rw) -> !rya
    %1 = mlc.matmul %x2, %w : (!rxb, !rw) -> !ryb
    return %0, %1 : !rya, !ryb
  }
  func.func @after(%x1: !rxa, %x2: !rxb, %w: !rw) -> (!rya, !ryb) {
    %x = mlc.concat %x1, %x2 {axis = 0 : i64} : (!rxa, !rxb) -> !rxab
    %0 = mlc.matmul %x, %w : (!rxab, !rw) -> !ryab
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[a, n]>, steps = #mlc.dims<[1, 1]>} : (!ryab) -> !rya
    %2 = mlc.slice %0 {starts = #mlc.dims<[a, 0]>, sizes = #mlc.dims<[b, n]>, steps = #mlc.dims<[1, 1]>} : (!ryab) -> !ryb
    return %1, %2 : !rya, !ryb
  }
}
