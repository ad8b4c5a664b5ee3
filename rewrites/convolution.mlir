// Convolutions: borders absorbed, and what a convolution is otherwise.
//
// Sizes: x is [n, c, h, w], weights [o, c/g, p, q]; the output is [n, o, y, z].

!x = tensor<?x?x?x?xf32, #mlc.dims<[n, cg * g, h, w]>>
!w = tensor<?x?x?x?xf32, #mlc.dims<[og * g, cg, p, q]>>

!x1 = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, w]>>

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
rule.def @conv_transpose_is_conv_and_shuffle "a transposed convolution whose stride is its kernel is a 1x1 convolution and a shuffle of pixels" attributes {lowering} {
  rule.require p ge 1
  rule.require q ge 1
  func.func @before(%x: !x1, %w: !tw {rule.constant}) -> !to {
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
