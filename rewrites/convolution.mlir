// Convolutions: batch norm, scales and shifts folded into weights, parallel
// convolutions merged, kernels enlarged, borders absorbed.
//
// Sizes: x is [n, c, h, w], weights [o, c/g, p, q]; the output is [n, o, y, z].

!x = tensor<?x?x?x?xf32, #mlc.dims<[n, cg * g, h, w]>>
!w = tensor<?x?x?x?xf32, #mlc.dims<[og * g, cg, p, q]>>
!y = tensor<?x?x?x?xf32, #mlc.dims<[n, og * g, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>>
!v = tensor<?xf32, #mlc.dims<[og * g]>>
!v4 = tensor<?x1x1x1xf32, #mlc.dims<[og * g, 1, 1, 1]>>
!c4 = tensor<1x?x1x1xf32, #mlc.dims<[1, og * g, 1, 1]>>

rule.def @fold_batch_norm_into_conv "a batch norm behind a convolution becomes part of its weights and a bias" {
  rule.assume constant 1
  rule.assume constant 2
  rule.assume constant 3
  rule.assume constant 4
  rule.assume constant 5
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  rule.require g ge 1
  func.func @before(%x: !x, %w: !w, %scale: !v, %bias: !v, %mean: !v, %variance: !v) -> !y {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    %1 = mlc.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = #mlc.real<eps>} : (!y, !v, !v, !v, !v) -> !y
    return %1 : !y
  }
  func.func @after(%x: !x, %w: !w, %scale: !v, %bias: !v, %mean: !v, %variance: !v) -> !y {
    %eps = mlc.fill {dims = #mlc.dims<[og * g]>, value = #mlc.real<eps>, type = f32} : () -> !v
    %0 = mlc.add %variance, %eps : (!v, !v) -> !v
    %1 = mlc.sqrt %0 : (!v) -> !v
    %factor = mlc.div %scale, %1 : (!v, !v) -> !v
    %2 = mlc.mul %mean, %factor : (!v, !v) -> !v
    %shift = mlc.sub %bias, %2 : (!v, !v) -> !v
    %3 = mlc.reshape %factor {dims = #mlc.dims<[og * g, 1, 1, 1]>} : (!v) -> !v4
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[og * g, cg, p, q]>} : (!v4) -> !w
    %weights = mlc.mul %w, %4 : (!w, !w) -> !w
    %5 = mlc.conv %x, %weights {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    %6 = mlc.reshape %shift {dims = #mlc.dims<[1, og * g, 1, 1]>} : (!v) -> !c4
    %7 = mlc.broadcast %6 {dims = #mlc.dims<[n, og * g, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>} : (!c4) -> !y
    %8 = mlc.add %5, %7 : (!y, !y) -> !y
    return %8 : !y
  }
}

rule.def @fold_scale_into_conv "a scale of each output channel becomes part of the weights" {
  rule.assume constant 1
  rule.assume constant 2
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  rule.require g ge 1
  func.func @before(%x: !x, %w: !w, %scale: !c4) -> !y {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    %1 = mlc.broadcast %scale {dims = #mlc.dims<[n, og * g, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>} : (!c4) -> !y
    %2 = mlc.mul %0, %1 : (!y, !y) -> !y
    return %2 : !y
  }
  func.func @after(%x: !x, %w: !w, %scale: !c4) -> !y {
    %0 = mlc.reshape %scale {dims = #mlc.dims<[og * g, 1, 1, 1]>} : (!c4) -> !v4
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[og * g, cg, p, q]>} : (!v4) -> !w
    %2 = mlc.mul %w, %1 : (!w, !w) -> !w
    %3 = mlc.conv %x, %2 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    return %3 : !y
  }
}

!x1 = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, w]>>
!w1 = tensor<?x?x?x?xf32, #mlc.dims<[o1, c, p, q]>>
!w2 = tensor<?x?x?x?xf32, #mlc.dims<[o2, c, p, q]>>
!w12 = tensor<?x?x?x?xf32, #mlc.dims<[o1 + o2, c, p, q]>>
!y1 = tensor<?x?x?x?xf32, #mlc.dims<[n, o1, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>>
!y2 = tensor<?x?x?x?xf32, #mlc.dims<[n, o2, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>>
!y12 = tensor<?x?x?x?xf32, #mlc.dims<[n, o1 + o2, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>>

// With groups the channels of the two would interleave: g = 1.
rule.def @merge_convs_of_one_input "two convolutions of one input become one, then two slices" {
  rule.assume constant 1
  rule.assume constant 2
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  func.func @before(%x: !x1, %w1: !w1, %w2: !w2) -> (!y1, !y2) {
    %0 = mlc.conv %x, %w1 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<1>} : (!x1, !w1) -> !y1
    %1 = mlc.conv %x, %w2 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<1>} : (!x1, !w2) -> !y2
    return %0, %1 : !y1, !y2
  }
  func.func @after(%x: !x1, %w1: !w1, %w2: !w2) -> (!y1, !y2) {
    %w = mlc.concat %w1, %w2 {axis = 0 : i64} : (!w1, !w2) -> !w12
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<1>} : (!x1, !w12) -> !y12
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0, 0, 0]>, sizes = #mlc.dims<[n, o1, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>, steps = #mlc.dims<[1, 1, 1, 1]>} : (!y12) -> !y1
    %2 = mlc.slice %0 {starts = #mlc.dims<[0, o1, 0, 0]>, sizes = #mlc.dims<[n, o2, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>, steps = #mlc.dims<[1, 1, 1, 1]>} : (!y12) -> !y2
    return %1, %2 : !y1, !y2
  }
}

!xa = tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>
!xb = tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>
!xab = tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
!wa = tensor<?x?x?x?xf32, #mlc.dims<[o, a, p, q]>>
!wb = tensor<?x?x?x?xf32, #mlc.dims<[o, b, p, q]>>
!wab = tensor<?x?x?x?xf32, #mlc.dims<[o, a + b, p, q]>>
!yo = tensor<?x?x?x?xf32, #mlc.dims<[n, o, floordiv(h + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + pl + pr - (q - 1) * dw - 1, sw) + 1]>>

rule.def @merge_sum_of_convs "the sum of two convolutions is one convolution of the concatenated inputs" {
  rule.assume constant 2
  rule.assume constant 3
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  func.func @before(%x1: !xa, %x2: !xb, %w1: !wa, %w2: !wb) -> !yo {
    %0 = mlc.conv %x1, %w1 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<1>} : (!xa, !wa) -> !yo
    %1 = mlc.conv %x2, %w2 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<1>} : (!xb, !wb) -> !yo
    %2 = mlc.add %0, %1 : (!yo, !yo) -> !yo
    return %2 : !yo
  }
  func.func @after(%x1: !xa, %x2: !xb, %w1: !wa, %w2: !wb) -> !yo {
    %x = mlc.concat %x1, %x2 {axis = 1 : i64} : (!xa, !xb) -> !xab
    %w = mlc.concat %w1, %w2 {axis = 1 : i64} : (!wa, !wb) -> !wab
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<1>} : (!xab, !wab) -> !yo
    return %0 : !yo
  }
}

rule.def @merge_sum_of_convs_of_one_input "the sum of two convolutions of one input is one convolution with the sum of the weights" {
  rule.assume constant 1
  rule.assume constant 2
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  rule.require g ge 1
  func.func @before(%x: !x, %w1: !w, %w2: !w) -> !y {
    %0 = mlc.conv %x, %w1 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    %1 = mlc.conv %x, %w2 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    %2 = mlc.add %0, %1 : (!y, !y) -> !y
    return %2 : !y
  }
  func.func @after(%x: !x, %w1: !w, %w2: !w) -> !y {
    %w = mlc.add %w1, %w2 : (!w, !w) -> !w
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    return %0 : !y
  }
}

!we = tensor<?x?x?x?xf32, #mlc.dims<[og * g, cg, p + 2 * e, q + 2 * f]>>

// Holds whenever the padding can grow with the kernel, at any stride: the
// windows start e dilated steps earlier and meet zeros there.
rule.def @enlarge_kernel "a kernel may be enlarged by a border of zeros when the padding grows with it" {
  rule.assume constant 1
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  rule.require g ge 1
  func.func @before(%x: !x, %w: !w) -> !y {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !y
    return %0 : !y
  }
  func.func @after(%x: !x, %w: !w) -> !y {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, e, f]>, high = #mlc.dims<[0, 0, e, f]>, mode = "constant", value = #mlc.real<0.0>} : (!w) -> !we
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt + e * dh, pl + f * dw, pb + e * dh, pr + f * dw]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !we) -> !y
    return %1 : !y
  }
}

!xp = tensor<?x?x?x?xf32, #mlc.dims<[n, cg * g, h + at + ab, w + al + ar]>>
!yp = tensor<?x?x?x?xf32, #mlc.dims<[n, og * g, floordiv(h + at + ab + pt + pb - (p - 1) * dh - 1, sh) + 1, floordiv(w + al + ar + pl + pr - (q - 1) * dw - 1, sw) + 1]>>

rule.def @absorb_pad_into_conv "a border of zeros in front of a convolution is part of its padding" {
  rule.require sh ge 1
  rule.require sw ge 1
  rule.require dh ge 1
  rule.require dw ge 1
  rule.require g ge 1
  func.func @before(%x: !x, %w: !w) -> !yp {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, at, al]>, high = #mlc.dims<[0, 0, ab, ar]>, mode = "constant", value = #mlc.real<0.0>} : (!x) -> !xp
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt, pl, pb, pr]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!xp, !w) -> !yp
    return %1 : !yp
  }
  func.func @after(%x: !x, %w: !w) -> !yp {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[sh, sw]>, pads = #mlc.dims<[pt + at, pl + al, pb + ab, pr + ar]>, dilations = #mlc.dims<[dh, dw]>, groups = #mlc.int<g>} : (!x, !w) -> !yp
    return %0 : !yp
  }
}

!k1 = tensor<?x?x1x1xf32, #mlc.dims<[o, c, 1, 1]>>
!k3 = tensor<1x?x?xf32, #mlc.dims<[1, o, c]>>
!kn = tensor<?x?x?xf32, #mlc.dims<[n, o, c]>>
!xf = tensor<?x?x?xf32, #mlc.dims<[n, c, h * w]>>
!yf = tensor<?x?x?xf32, #mlc.dims<[n, o, h * w]>>
!yk = tensor<?x?x?x?xf32, #mlc.dims<[n, o, h, w]>>

rule.def @conv_1x1_is_matmul "a 1x1 convolution is a matrix product over pixels" {
  func.func @before(%x: !x1, %w: !k1) -> !yk {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x1, !k1) -> !yk
    return %0 : !yk
  }
  func.func @after(%x: !x1, %w: !k1) -> !yk {
    %0 = mlc.reshape %w {dims = #mlc.dims<[1, o, c]>} : (!k1) -> !k3
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[n, o, c]>} : (!k3) -> !kn
    %2 = mlc.reshape %x {dims = #mlc.dims<[n, c, h * w]>} : (!x1) -> !xf
    %3 = mlc.matmul %1, %2 : (!kn, !xf) -> !yf
    %4 = mlc.reshape %3 {dims = #mlc.dims<[n, o, h, w]>} : (!yf) -> !yk
    return %4 : !yk
  }
}

!tw = tensor<?x?x?x?xf32, #mlc.dims<[c, o, p, q]>>
!tt = tensor<?x?x?x?xf32, #mlc.dims<[o, p, q, c]>>
!tf = tensor<?x?x1x1xf32, #mlc.dims<[o * p * q, c, 1, 1]>>
!ty = tensor<?x?x?x?xf32, #mlc.dims<[n, o * p * q, h, w]>>
!ts = tensor<?x?x?x?x?x?xf32, #mlc.dims<[n, o, p, q, h, w]>>
!tu = tensor<?x?x?x?x?x?xf32, #mlc.dims<[n, o, h, p, w, q]>>
!to = tensor<?x?x?x?xf32, #mlc.dims<[n, o, h * p, w * q]>>

// Windows do not overlap: each input pixel gives its own p x q outputs.
rule.def @conv_transpose_is_conv_and_shuffle "a transposed convolution whose stride is its kernel is a 1x1 convolution and a shuffle of pixels" {
  rule.assume constant 1
  rule.require p ge 1
  rule.require q ge 1
  func.func @before(%x: !x1, %w: !tw) -> !to {
    %0 = mlc.conv_transpose %x, %w {strides = #mlc.dims<[p, q]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, output_padding = #mlc.dims<[0, 0]>, groups = #mlc.int<1>} : (!x1, !tw) -> !to
    return %0 : !to
  }
  func.func @after(%x: !x1, %w: !tw) -> !to {
    %0 = mlc.transpose %w {permutation = array<i64: 1, 2, 3, 0>} : (!tw) -> !tt
    %1 = mlc.reshape %0 {dims = #mlc.dims<[o * p * q, c, 1, 1]>} : (!tt) -> !tf
    %2 = mlc.conv %x, %1 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!x1, !tf) -> !ty
    %3 = mlc.reshape %2 {dims = #mlc.dims<[n, o, p, q, h, w]>} : (!ty) -> !ts
    %4 = mlc.transpose %3 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (!ts) -> !tu
    %5 = mlc.reshape %4 {dims = #mlc.dims<[n, o, h * p, w * q]>} : (!tu) -> !to
    return %5 : !to
  }
}
