// Layers as large models split them over ranks, with symbols for sizes (test_layers.py).

!x = tensor<?x?x?xf32, #mlc.dims<[b, s, d]>>
!qkv_w = tensor<?x?x?xf32, #mlc.dims<[d, h, e]>>
!o_w = tensor<?x?x?xf32, #mlc.dims<[h, e, d]>>
!heads = tensor<?x?x?x?xf32, #mlc.dims<[b, h, s, e]>>
!heads_t = tensor<?x?x?x?xf32, #mlc.dims<[b, h, e, s]>>
!scores = tensor<?x?x?x?xf32, #mlc.dims<[b, h, s, s]>>
!tokens = tensor<?x?xf32, #mlc.dims<[n, d]>>
!labels = tensor<?xi64, #mlc.dims<[n]>>
!out_w = tensor<?x?xf32, #mlc.dims<[d, v]>>
!logits = tensor<?x?xf32, #mlc.dims<[n, v]>>
!column = tensor<?x1xf32, #mlc.dims<[n, 1]>>
!gate_w = tensor<?x?xf32, #mlc.dims<[d, x]>>
!gate = tensor<?x?xf32, #mlc.dims<[n, x]>>
!sent = tensor<?x?x?xf32, #mlc.dims<[x, c, d]>>
!slots = tensor<?x?x?xf32, #mlc.dims<[n, x, c]>>
!up = tensor<?x?x?xf32, #mlc.dims<[x, d, f]>>
!down = tensor<?x?x?xf32, #mlc.dims<[x, f, d]>>
!hidden = tensor<?x?x?xf32, #mlc.dims<[x, c, f]>>

// Causal attention with its projections.
func.func @attention(%x: !x, %wq: !qkv_w, %wk: !qkv_w, %wv: !qkv_w, %wo: !o_w) -> !x attributes {mlc.assume = ["b >= 1", "s >= 1", "h >= 1", "e >= 1", "d >= 1"]} {
  %q = mlc.compute %x, %wq {definition = "(x, w; d) Y[b, h, i, e] = sum{k < d}(x[b, i, k] * w[k, h, e])", dims = #mlc.dims<[b, h, s, e]>, integers = #mlc.dims<[d]>, reals = [], type = f32} : (!x, !qkv_w) -> !heads
  %k = mlc.compute %x, %wk {definition = "(x, w; d) Y[b, h, e, i] = sum{k < d}(x[b, i, k] * w[k, h, e])", dims = #mlc.dims<[b, h, e, s]>, integers = #mlc.dims<[d]>, reals = [], type = f32} : (!x, !qkv_w) -> !heads_t
  %v = mlc.compute %x, %wv {definition = "(x, w; d) Y[b, h, i, e] = sum{k < d}(x[b, i, k] * w[k, h, e])", dims = #mlc.dims<[b, h, s, e]>, integers = #mlc.dims<[d]>, reals = [], type = f32} : (!x, !qkv_w) -> !heads
  %p = mlc.matmul %q, %k : (!heads, !heads_t) -> !scores
  %m = mlc.compute %p {definition = "(x; ; low) Y[b, h, i, j] = select(j <= i, x[b, h, i, j], low)", dims = #mlc.dims<[b, h, s, s]>, integers = #mlc.dims<[]>, reals = [#mlc.real<-1.0e+09>], type = f32} : (!scores) -> !scores
  %a = mlc.softmax %m {axis = 3 : i64} : (!scores) -> !scores
  %y = mlc.matmul %a, %v : (!scores, !heads) -> !heads
  %o = mlc.compute %y, %wo {definition = "(y, w; h, e) Y[b, i, k] = sum{g < h, j < e}(y[b, g, i, j] * w[g, j, k])", dims = #mlc.dims<[b, s, d]>, integers = #mlc.dims<[h, e]>, reals = [], type = f32} : (!heads, !o_w) -> !x
  return %o : !x
}

// Cross entropy of labels over logits.
func.func @cross_entropy(%x: !tokens, %w: !out_w, %t: !labels) -> !column attributes {mlc.assume = ["n >= 1", "d >= 1", "v >= 1"]} {
  %y = mlc.matmul %x, %w : (!tokens, !out_w) -> !logits
  %l = mlc.log_softmax %y {axis = 1 : i64} : (!logits) -> !logits
  %h = mlc.compute %l, %t {definition = "(x, t) Y[i, j] = select(i64(j) == t[i], -x[i, j], 0.0)", dims = #mlc.dims<[n, v]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!logits, !labels) -> !logits
  %r = mlc.reduce %h {kind = "sum", axes = array<i64: 1>} : (!logits) -> !column
  return %r : !column
}

// Experts behind a gate: tokens go to slots of experts, and weighted results come back. %p says which token each slot has (GShard's einsums).
func.func @experts(%x: !tokens, %g: !gate_w, %p: !slots, %u: !up, %w: !down) -> !tokens attributes {mlc.assume = ["n >= 1", "d >= 1", "x >= 1", "c >= 1", "f >= 1"]} {
  %z = mlc.matmul %x, %g : (!tokens, !gate_w) -> !gate
  %s = mlc.softmax %z {axis = 1 : i64} : (!gate) -> !gate
  %i = mlc.compute %p, %x {definition = "(p, x; n) Y[q, r, j] = sum{i < n}(p[i, q, r] * x[i, j])", dims = #mlc.dims<[x, c, d]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!slots, !tokens) -> !sent
  %h = mlc.matmul %i, %u : (!sent, !up) -> !hidden
  %a = mlc.relu %h : (!hidden) -> !hidden
  %o = mlc.matmul %a, %w : (!hidden, !down) -> !sent
  %c = mlc.compute %p, %s {definition = "(p, s) Y[i, q, r] = p[i, q, r] * s[i, q]", dims = #mlc.dims<[n, x, c]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!slots, !gate) -> !slots
  %y = mlc.compute %c, %o {definition = "(p, o; x, c) Y[i, j] = sum{q < x, r < c}(p[i, q, r] * o[q, r, j])", dims = #mlc.dims<[n, d]>, integers = #mlc.dims<[x, c]>, reals = [], type = f32} : (!slots, !sent) -> !tokens
  return %y : !tokens
}
