// Matrix products: products that share an operand, scales, transposes.

!x = tensor<?x?xf32, #mlc.dims<[m, k]>>
!wa = tensor<?x?xf32, #mlc.dims<[k, a]>>
!wb = tensor<?x?xf32, #mlc.dims<[k, b]>>
!wab = tensor<?x?xf32, #mlc.dims<[k, a + b]>>
!ya = tensor<?x?xf32, #mlc.dims<[m, a]>>
!yb = tensor<?x?xf32, #mlc.dims<[m, b]>>
!yab = tensor<?x?xf32, #mlc.dims<[m, a + b]>>

rule.def @merge_matmuls_of_one_input "two products with one left operand become one, then two slices" {
  rule.assume constant 1
  rule.assume constant 2
  func.func @before(%x: !x, %w1: !wa, %w2: !wb) -> (!ya, !yb) {
    %0 = mlc.matmul %x, %w1 : (!x, !wa) -> !ya
    %1 = mlc.matmul %x, %w2 : (!x, !wb) -> !yb
    return %0, %1 : !ya, !yb
  }
  func.func @after(%x: !x, %w1: !wa, %w2: !wb) -> (!ya, !yb) {
    %w = mlc.concat %w1, %w2 {axis = 1 : i64} : (!wa, !wb) -> !wab
    %0 = mlc.matmul %x, %w : (!x, !wab) -> !yab
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, a]>, steps = #mlc.dims<[1, 1]>} : (!yab) -> !ya
    %2 = mlc.slice %0 {starts = #mlc.dims<[0, a]>, sizes = #mlc.dims<[m, b]>, steps = #mlc.dims<[1, 1]>} : (!yab) -> !yb
    return %1, %2 : !ya, !yb
  }
}

!xa = tensor<?x?xf32, #mlc.dims<[m, i]>>
!xb = tensor<?x?xf32, #mlc.dims<[m, j]>>
!xab = tensor<?x?xf32, #mlc.dims<[m, i + j]>>
!va = tensor<?x?xf32, #mlc.dims<[i, n]>>
!vb = tensor<?x?xf32, #mlc.dims<[j, n]>>
!vab = tensor<?x?xf32, #mlc.dims<[i + j, n]>>
!y = tensor<?x?xf32, #mlc.dims<[m, n]>>

rule.def @merge_sum_of_matmuls "the sum of two products is one product of the concatenated operands" {
  rule.assume constant 2
  rule.assume constant 3
  func.func @before(%x1: !xa, %x2: !xb, %w1: !va, %w2: !vb) -> !y {
    %0 = mlc.matmul %x1, %w1 : (!xa, !va) -> !y
    %1 = mlc.matmul %x2, %w2 : (!xb, !vb) -> !y
    %2 = mlc.add %0, %1 : (!y, !y) -> !y
    return %2 : !y
  }
  func.func @after(%x1: !xa, %x2: !xb, %w1: !va, %w2: !vb) -> !y {
    %x = mlc.concat %x1, %x2 {axis = 1 : i64} : (!xa, !xb) -> !xab
    %w = mlc.concat %w1, %w2 {axis = 0 : i64} : (!va, !vb) -> !vab
    %0 = mlc.matmul %x, %w : (!xab, !vab) -> !y
    return %0 : !y
  }
}

!w = tensor<?x?xf32, #mlc.dims<[k, n]>>
!s = tensor<1x?xf32, #mlc.dims<[1, n]>>

rule.def @fold_scale_into_matmul "a constant scale of the columns becomes part of the right operand" {
  rule.assume constant 1
  rule.assume constant 2
  func.func @before(%x: !x, %w: !w, %s: !s) -> !y {
    %0 = mlc.matmul %x, %w : (!x, !w) -> !y
    %1 = mlc.broadcast %s {dims = #mlc.dims<[m, n]>} : (!s) -> !y
    %2 = mlc.mul %0, %1 : (!y, !y) -> !y
    return %2 : !y
  }
  func.func @after(%x: !x, %w: !w, %s: !s) -> !y {
    %0 = mlc.broadcast %s {dims = #mlc.dims<[k, n]>} : (!s) -> !w
    %1 = mlc.mul %w, %0 : (!w, !w) -> !w
    %2 = mlc.matmul %x, %1 : (!x, !w) -> !y
    return %2 : !y
  }
}

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
