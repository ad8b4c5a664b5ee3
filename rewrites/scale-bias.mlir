// Scales and biases by constants of each channel, folded into one another.
//
// Sizes: y is [n, c, h, w], a channel constant is [1, c, 1, 1].

!y = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, w]>>
!k = tensor<1x?x1x1xf32, #mlc.dims<[1, c, 1, 1]>>
!v = tensor<?xf32, #mlc.dims<[c]>>

rule.def @batch_norm_is_scale_and_bias "a batch norm with constant parameters is a scale and a bias" {
  func.func @before(%y: !y, %scale: !v {rule.constant}, %bias: !v {rule.constant}, %mean: !v {rule.constant}, %variance: !v {rule.constant}) -> !y {
    %0 = mlc.batch_norm %y, %scale, %bias, %mean, %variance {epsilon = #mlc.real<eps>} : (!y, !v, !v, !v, !v) -> !y
    return %0 : !y
  }
  func.func @after(%y: !y, %scale: !v, %bias: !v, %mean: !v, %variance: !v) -> !y {
    %eps = mlc.fill {dims = #mlc.dims<[c]>, value = #mlc.real<eps>, type = f32} : () -> !v
    %0 = mlc.add %variance, %eps : (!v, !v) -> !v
    %1 = mlc.sqrt %0 : (!v) -> !v
    %factor = mlc.div %scale, %1 : (!v, !v) -> !v
    %2 = mlc.mul %mean, %factor : (!v, !v) -> !v
    %new_bias = mlc.sub %bias, %2 : (!v, !v) -> !v
    %3 = mlc.reshape %factor {dims = #mlc.dims<[1, c, 1, 1]>} : (!v) -> !k
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %5 = mlc.mul %y, %4 : (!y, !y) -> !y
    %6 = mlc.reshape %new_bias {dims = #mlc.dims<[1, c, 1, 1]>} : (!v) -> !k
    %7 = mlc.broadcast %6 {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %8 = mlc.add %5, %7 : (!y, !y) -> !y
    return %8 : !y
  }
}

rule.def @bias_of_bias "two constant biases are one" {
  func.func @before(%y: !y, %a: !k {rule.constant}, %b: !k {rule.constant}) -> !y {
    %0 = mlc.broadcast %a {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %1 = mlc.add %y, %0 : (!y, !y) -> !y
    %2 = mlc.broadcast %b {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %3 = mlc.add %1, %2 : (!y, !y) -> !y
    return %3 : !y
  }
  func.func @after(%y: !y, %a: !k, %b: !k) -> !y {
    %0 = mlc.add %a, %b : (!k, !k) -> !k
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %2 = mlc.add %y, %1 : (!y, !y) -> !y
    return %2 : !y
  }
}

rule.def @scale_of_scale "two constant scales are one" {
  func.func @before(%y: !y, %a: !k {rule.constant}, %b: !k {rule.constant}) -> !y {
    %0 = mlc.broadcast %a {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %1 = mlc.mul %y, %0 : (!y, !y) -> !y
    %2 = mlc.broadcast %b {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %3 = mlc.mul %1, %2 : (!y, !y) -> !y
    return %3 : !y
  }
  func.func @after(%y: !y, %a: !k, %b: !k) -> !y {
    %0 = mlc.mul %a, %b : (!k, !k) -> !k
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %2 = mlc.mul %y, %1 : (!y, !y) -> !y
    return %2 : !y
  }
}

// As many operations as before, but the scale can now reach the weights of
// the convolution or matrix product in front.
rule.def @scale_of_shifted_product "a constant scale moves in front of a constant bias" {
  func.func @before(%y: !y, %a: !k {rule.constant}, %s: !k {rule.constant}, %t: !k {rule.constant}) -> !y {
    %0 = mlc.broadcast %a {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %1 = mlc.add %y, %0 : (!y, !y) -> !y
    %2 = mlc.broadcast %s {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %3 = mlc.mul %1, %2 : (!y, !y) -> !y
    %4 = mlc.broadcast %t {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %5 = mlc.add %3, %4 : (!y, !y) -> !y
    return %5 : !y
  }
  func.func @after(%y: !y, %a: !k, %s: !k, %t: !k) -> !y {
    %0 = mlc.broadcast %s {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %1 = mlc.mul %y, %0 : (!y, !y) -> !y
    %2 = mlc.mul %a, %s : (!k, !k) -> !k
    %3 = mlc.add %2, %t : (!k, !k) -> !k
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[n, c, h, w]>} : (!k) -> !y
    %5 = mlc.add %1, %4 : (!y, !y) -> !y
    return %5 : !y
  }
}

!x = tensor<?x?x?x?xf32, #mlc.dims<[n, cg * g, i, j]>>
!w = tensor<?x?x?x?xf32, #mlc.dims<[og * g, cg, p, q]>>
!o = tensor<?x?x?x?xf32, #mlc.dims<[n, og * g, floordiv(i + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(j + pl + pr - (q - 1) * dw - 1, sw) + 1]>>
!ko = tensor<1x?x1x1xf32, #mlc.dims<[1, og * g, 1, 1]>>
!kw = tensor<?x1x1x1xf32, #mlc.dims<[og * g, 1, 1, 1]>>

rule.def @fold_scale_of_biased_conv "a scale of a convolution with bias becomes part of weights and bias" {
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  rule.require g ge 1
  func.func @before(%x: !x, %w: !w {rule.constant}, %bias: !ko {rule.constant}, %scale: !ko {rule.constant}) -> !o {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !o
    %1 = mlc.broadcast %bias {dims = #mlc.dims<[n, og * g, floordiv(i + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(j + pl + pr - (q - 1) * dw - 1, sw) + 1]>} : (!ko) -> !o
    %2 = mlc.add %0, %1 : (!o, !o) -> !o
    %3 = mlc.broadcast %scale {dims = #mlc.dims<[n, og * g, floordiv(i + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(j + pl + pr - (q - 1) * dw - 1, sw) + 1]>} : (!ko) -> !o
    %4 = mlc.mul %2, %3 : (!o, !o) -> !o
    return %4 : !o
  }
  func.func @after(%x: !x, %w: !w, %bias: !ko, %scale: !ko) -> !o {
    %0 = mlc.reshape %scale {dims = #mlc.dims<[og * g, 1, 1, 1]>} : (!ko) -> !kw
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[og * g, cg, p, q]>} : (!kw) -> !w
    %2 = mlc.mul %w, %1 : (!w, !w) -> !w
    %3 = mlc.conv %x, %2 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !o
    %4 = mlc.mul %bias, %scale : (!ko, !ko) -> !ko
    %5 = mlc.broadcast %4 {dims = #mlc.dims<[n, og * g, floordiv(i + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(j + pl + pr - (q - 1) * dw - 1, sw) + 1]>} : (!ko) -> !o
    %6 = mlc.add %3, %5 : (!o, !o) -> !o
    return %6 : !o
  }
}
