// The refuted rules of literature.mlir with the condition that `mlc-rules audit`
// finds for each: all are proved. `mlc-rules check --mutants` leaves the
// conditions out again.

!t_a_b = tensor<?x?xf32, #mlc.dims<[a, b]>>

rule.def @introduce_divisor "x = (x y) / y, the same from right to left"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b {rule.nonzero}) -> !t_a_b {
    return %x : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %0, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @introduce_exp_of_log "x = exp(log(x))"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b {rule.positive}) -> !t_a_b {
    return %x : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.log %x : (!t_a_b) -> !t_a_b
    %1 = mlc.exp %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @root_of_square "sqrt(x x) = x"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b {rule.nonnegative}) -> !t_a_b {
    %0 = mlc.mul %x, %x : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.sqrt %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

rule.def @scale_leaves_relu "relu(t x) = t relu(x) for a number t"
    attributes {rule.source = "TENSAT (Yang et al., MLSys 2021)", rule.expect = "proved"} {
  rule.assume_real t ge 0.0
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<t>, type = f32} : () -> !t_a_b
    %1 = mlc.mul %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.relu %1 : (!t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.relu %x : (!t_a_b) -> !t_a_b
    %1 = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<t>, type = f32} : () -> !t_a_b
    %2 = mlc.mul %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
}

!t_b_a = tensor<?x?xf32, #mlc.dims<[b, a]>>

rule.def @transpose_is_no_reshape "a transpose is a reshape"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.require a eq 1 or b eq 1
  func.func @before(%x: !t_a_b) -> !t_b_a {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_a_b) -> !t_b_a
    return %0 : !t_b_a
  }
  func.func @after(%x: !t_a_b) -> !t_b_a {
    %0 = mlc.reshape %x {dims = #mlc.dims<[b, a]>} : (!t_a_b) -> !t_b_a
    return %0 : !t_b_a
  }
}

!t_n_n = tensor<?x?xf32, #mlc.dims<[n, n]>>
!t_2n_n = tensor<?x?xf32, #mlc.dims<[2 * n, n]>>
!t_2nn = tensor<?xf32, #mlc.dims<[2 * n * n]>>
!t_n_2n = tensor<?x?xf32, #mlc.dims<[n, 2 * n]>>

rule.def @concat_along_another_axis "concatenations along different axes, the numbers alone compared"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require n eq 1
  func.func @before(%x: !t_n_n, %y: !t_n_n) -> !t_2nn {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!t_n_n, !t_n_n) -> !t_2n_n
    %1 = mlc.reshape %0 {dims = #mlc.dims<[2 * n * n]>} : (!t_2n_n) -> !t_2nn
    return %1 : !t_2nn
  }
  func.func @after(%x: !t_n_n, %y: !t_n_n) -> !t_2nn {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_n, !t_n_n) -> !t_n_2n
    %1 = mlc.reshape %0 {dims = #mlc.dims<[2 * n * n]>} : (!t_n_2n) -> !t_2nn
    return %1 : !t_2nn
  }
}

!t_c = tensor<?xf32, #mlc.dims<[c]>>
!t_1_c = tensor<1x?xf32, #mlc.dims<[1, c]>>
!t_n_c = tensor<?x?xf32, #mlc.dims<[n, c]>>
!t_npapb_c = tensor<?x?xf32, #mlc.dims<[n + a + b, c]>>

rule.def @pad_of_scaled "a border around x times a broadcast y is the border around x, times y"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.assume_real v eq 0.0
  func.func @before(%x: !t_n_c, %y: !t_c) -> !t_npapb_c {
    %0 = mlc.reshape %y {dims = #mlc.dims<[1, c]>} : (!t_c) -> !t_1_c
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[n, c]>} : (!t_1_c) -> !t_n_c
    %2 = mlc.mul %x, %1 : (!t_n_c, !t_n_c) -> !t_n_c
    %3 = mlc.pad %2 {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<v>} : (!t_n_c) -> !t_npapb_c
    return %3 : !t_npapb_c
  }
  func.func @after(%x: !t_n_c, %y: !t_c) -> !t_npapb_c {
    %0 = mlc.pad %x {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<v>} : (!t_n_c) -> !t_npapb_c
    %1 = mlc.reshape %y {dims = #mlc.dims<[1, c]>} : (!t_c) -> !t_1_c
    %2 = mlc.broadcast %1 {dims = #mlc.dims<[n + a + b, c]>} : (!t_1_c) -> !t_npapb_c
    %3 = mlc.mul %0, %2 : (!t_npapb_c, !t_npapb_c) -> !t_npapb_c
    return %3 : !t_npapb_c
  }
}

rule.def @pad_of_shifted "a border of zeros around x plus a broadcast y is the border around x, plus y"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require a eq 0
  rule.require b eq 0
  func.func @before(%x: !t_n_c, %y: !t_c) -> !t_npapb_c {
    %0 = mlc.reshape %y {dims = #mlc.dims<[1, c]>} : (!t_c) -> !t_1_c
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[n, c]>} : (!t_1_c) -> !t_n_c
    %2 = mlc.add %x, %1 : (!t_n_c, !t_n_c) -> !t_n_c
    %3 = mlc.pad %2 {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c) -> !t_npapb_c
    return %3 : !t_npapb_c
  }
  func.func @after(%x: !t_n_c, %y: !t_c) -> !t_npapb_c {
    %0 = mlc.pad %x {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c) -> !t_npapb_c
    %1 = mlc.reshape %y {dims = #mlc.dims<[1, c]>} : (!t_c) -> !t_1_c
    %2 = mlc.broadcast %1 {dims = #mlc.dims<[n + a + b, c]>} : (!t_1_c) -> !t_npapb_c
    %3 = mlc.add %0, %2 : (!t_npapb_c, !t_npapb_c) -> !t_npapb_c
    return %3 : !t_npapb_c
  }
}

!t_n_a = tensor<?x?xf32, #mlc.dims<[n, a]>>
!t_n_b = tensor<?x?xf32, #mlc.dims<[n, b]>>
!t_n_apb = tensor<?x?xf32, #mlc.dims<[n, a + b]>>
!t_n_1 = tensor<?x1xf32, #mlc.dims<[n, 1]>>

rule.def @mean_of_concat "the mean of x beside y is the mean of their means"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "proved"} {
  rule.require a ge 1
  rule.require b ge 1
  rule.require a eq b
  func.func @before(%x: !t_n_a, %y: !t_n_b) -> !t_n_1 {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    %1 = mlc.reduce %0 {kind = "mean", axes = array<i64: 1>} : (!t_n_apb) -> !t_n_1
    return %1 : !t_n_1
  }
  func.func @after(%x: !t_n_a, %y: !t_n_b) -> !t_n_1 {
    %0 = mlc.reduce %x {kind = "mean", axes = array<i64: 1>} : (!t_n_a) -> !t_n_1
    %1 = mlc.reduce %y {kind = "mean", axes = array<i64: 1>} : (!t_n_b) -> !t_n_1
    %2 = mlc.add %0, %1 : (!t_n_1, !t_n_1) -> !t_n_1
    %3 = mlc.fill {dims = #mlc.dims<[n, 1]>, value = #mlc.real<0.5>, type = f32} : () -> !t_n_1
    %4 = mlc.mul %2, %3 : (!t_n_1, !t_n_1) -> !t_n_1
    return %4 : !t_n_1
  }
}

!t_a_1 = tensor<?x1xf32, #mlc.dims<[a, 1]>>

rule.def @square_of_sum "sum(x)^2 = sum(x^2)"
    attributes {rule.source = "a slip of the pen", rule.expect = "proved"} {
  rule.require b ge 1
  rule.require b eq 1
  func.func @before(%x: !t_a_b) -> !t_a_1 {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    %1 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    %2 = mlc.mul %0, %1 : (!t_a_1, !t_a_1) -> !t_a_1
    return %2 : !t_a_1
  }
  func.func @after(%x: !t_a_b) -> !t_a_1 {
    %0 = mlc.mul %x, %x : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    return %1 : !t_a_1
  }
}

rule.def @softmax_along_another_axis "softmax along columns is softmax along rows"
    attributes {rule.source = "a slip of the pen", rule.expect = "proved"} {
  rule.require n eq 1
  func.func @before(%x: !t_n_n) -> !t_n_n {
    %0 = mlc.softmax %x {axis = 0 : i64} : (!t_n_n) -> !t_n_n
    return %0 : !t_n_n
  }
  func.func @after(%x: !t_n_n) -> !t_n_n {
    %0 = mlc.softmax %x {axis = 1 : i64} : (!t_n_n) -> !t_n_n
    return %0 : !t_n_n
  }
}

!t_n_cg_h = tensor<?x?x?xf32, #mlc.dims<[n, c * g, h]>>
!t_go_c_k = tensor<?x?x?xf32, #mlc.dims<[g * o, c, k]>>
!t_n_go_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, g * o, h + 2 * p - k + 1]>>
!t_gm_c_k = tensor<?x?x?xf32, #mlc.dims<[g * m, c, k]>>
!t_n_gm_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, g * m, h + 2 * p - k + 1]>>
!t_n_gopgm_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, g * o + g * m, h + 2 * p - k + 1]>>
!t_gopgm_c_k = tensor<?x?x?xf32, #mlc.dims<[g * o + g * m, c, k]>>

rule.def @merge_grouped_convs "the same for convolutions with groups"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require g ge 1
  rule.require c ge 1
  rule.require g eq 1
  func.func @before(%x: !t_n_cg_h, %v: !t_go_c_k, %w: !t_gm_c_k) -> !t_n_gopgm_hp2pmkp1 {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<g>} : (!t_n_cg_h, !t_go_c_k) -> !t_n_go_hp2pmkp1
    %1 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<g>} : (!t_n_cg_h, !t_gm_c_k) -> !t_n_gm_hp2pmkp1
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_n_go_hp2pmkp1, !t_n_gm_hp2pmkp1) -> !t_n_gopgm_hp2pmkp1
    return %2 : !t_n_gopgm_hp2pmkp1
  }
  func.func @after(%x: !t_n_cg_h, %v: !t_go_c_k, %w: !t_gm_c_k) -> !t_n_gopgm_hp2pmkp1 {
    %0 = mlc.concat %v, %w {axis = 0 : i64} : (!t_go_c_k, !t_gm_c_k) -> !t_gopgm_c_k
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<g>} : (!t_n_cg_h, !t_gopgm_c_k) -> !t_n_gopgm_hp2pmkp1
    return %1 : !t_n_gopgm_hp2pmkp1
  }
}

!t_n_c_h = tensor<?x?x?xf32, #mlc.dims<[n, c, h]>>
!t_o_c_k = tensor<?x?x?xf32, #mlc.dims<[o, c, k]>>
!t_n_o_h = tensor<?x?x?xf32, #mlc.dims<[n, o, h]>>

rule.def @merge_convs_with_other_dilations "conv(x, v) + conv(x, w) = conv(x, v + w) without a look at the dilations"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require d ge 1
  rule.require e ge 1
  rule.require k ge 1
  rule.require d eq e
  func.func @before(%x: !t_n_c_h, %v: !t_o_c_k, %w: !t_o_c_k) -> !t_n_o_h {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[1]>, pads = #mlc.dims<[d * k - d, 0]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_h
    %1 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[e * k - e, 0]>, dilations = #mlc.dims<[e]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_h
    %2 = mlc.add %0, %1 : (!t_n_o_h, !t_n_o_h) -> !t_n_o_h
    return %2 : !t_n_o_h
  }
  func.func @after(%x: !t_n_c_h, %v: !t_o_c_k, %w: !t_o_c_k) -> !t_n_o_h {
    %0 = mlc.add %v, %w : (!t_o_c_k, !t_o_c_k) -> !t_o_c_k
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[d * k - d, 0]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_h
    return %1 : !t_n_o_h
  }
}

!t_n_o_hpppqmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + p + q - k + 1]>>
!t_n_o_hpqppmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + q + p - k + 1]>>

rule.def @merge_convs_with_other_padding "conv(x, v) + conv(x, w) = conv(x, v + w) where only the total padding agrees"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require p eq q
  func.func @before(%x: !t_n_c_h, %v: !t_o_c_k, %w: !t_o_c_k) -> !t_n_o_hpppqmkp1 {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hpppqmkp1
    %1 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[q, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hpqppmkp1
    %2 = mlc.add %0, %1 : (!t_n_o_hpppqmkp1, !t_n_o_hpqppmkp1) -> !t_n_o_hpppqmkp1
    return %2 : !t_n_o_hpppqmkp1
  }
  func.func @after(%x: !t_n_c_h, %v: !t_o_c_k, %w: !t_o_c_k) -> !t_n_o_hpppqmkp1 {
    %0 = mlc.add %v, %w : (!t_o_c_k, !t_o_c_k) -> !t_o_c_k
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hpppqmkp1
    return %1 : !t_n_o_hpppqmkp1
  }
}

!t_o_c_1 = tensor<?x?x1xf32, #mlc.dims<[o, c, 1]>>
!t1 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s - h + 1, 0) - 1, s) + 1]>>
!t_o_c_3 = tensor<?x?x3xf32, #mlc.dims<[o, c, 3]>>
!t2 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s - h + 3, 0) - 3, s) + 1]>>

rule.def @enlarge_same_upper "a 1 wide kernel may become 3 wide: both are padded for ceil(h / s) outputs (SAME_UPPER)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require h ge 1
  rule.require s divides h - 1
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_1) -> !t1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s - h + 1, 0), 2), max(floordiv(h - 1, s) * s - h + 1, 0) - floordiv(max(floordiv(h - 1, s) * s - h + 1, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_1) -> !t1
    return %0 : !t1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_1) -> !t2 {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_1) -> !t_o_c_3
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s - h + 3, 0), 2), max(floordiv(h - 1, s) * s - h + 3, 0) - floordiv(max(floordiv(h - 1, s) * s - h + 3, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_3) -> !t2
    return %1 : !t2
  }
}

!t3 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s + k - h, 0) - k, s) + 1]>>
!t_o_c_kp2 = tensor<?x?x?xf32, #mlc.dims<[o, c, k + 2]>>
!t4 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s + k - h + 2, 0) - k - 2, s) + 1]>>

rule.def @enlarge_any_same_upper "the same from k to k + 2"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require h ge 1
  rule.require k ge 1
  rule.require mod(h - 1, s) lt k
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t3 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s + k - h, 0), 2), max(floordiv(h - 1, s) * s + k - h, 0) - floordiv(max(floordiv(h - 1, s) * s + k - h, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t3
    return %0 : !t3
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t4 {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_k) -> !t_o_c_kp2
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s + k - h + 2, 0), 2), max(floordiv(h - 1, s) * s + k - h + 2, 0) - floordiv(max(floordiv(h - 1, s) * s + k - h + 2, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_kp2) -> !t4
    return %1 : !t4
  }
}

!t_n_c_2h = tensor<?x?x?xf32, #mlc.dims<[n, c, 2 * h]>>
!t_o_c_2pp1 = tensor<?x?x?xf32, #mlc.dims<[o, c, 2 * p + 1]>>
!t_n_o_2h = tensor<?x?x?xf32, #mlc.dims<[n, o, 2 * h]>>

rule.def @split_pixels "a convolution of a row is the convolutions of its two halves, without a look at the border between them"
    attributes {rule.source = "PET (Wang et al., OSDI 2021)", rule.expect = "proved"} {
  rule.require p eq 0
  func.func @before(%x: !t_n_c_2h, %w: !t_o_c_2pp1) -> !t_n_o_2h {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_2h, !t_o_c_2pp1) -> !t_n_o_2h
    return %0 : !t_n_o_2h
  }
  func.func @after(%x: !t_n_c_2h, %w: !t_o_c_2pp1) -> !t_n_o_2h {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_c_2h) -> !t_n_c_h
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_2pp1) -> !t_n_o_h
    %2 = mlc.slice %x {starts = #mlc.dims<[0, 0, h]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_c_2h) -> !t_n_c_h
    %3 = mlc.conv %2, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_2pp1) -> !t_n_o_h
    %4 = mlc.concat %1, %3 {axis = 2 : i64} : (!t_n_o_h, !t_n_o_h) -> !t_n_o_2h
    return %4 : !t_n_o_2h
  }
}

!t_n_c_hpi = tensor<?x?x?xf32, #mlc.dims<[n, c, h + i]>>
!t_n_o_hpip2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + i + 2 * p - k + 1]>>
!t_n_o_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + 2 * p - k + 1]>>

rule.def @conv_of_slice "the first outputs of a convolution are the convolution of the first inputs"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "proved"} {
  rule.require h + 2 * p ge k
  rule.require i eq 0 or p eq 0
  func.func @before(%x: !t_n_c_hpi, %w: !t_o_c_k) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_hpi, !t_o_c_k) -> !t_n_o_hpip2pmkp1
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, o, h + 2 * p - k + 1]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_o_hpip2pmkp1) -> !t_n_o_hp2pmkp1
    return %1 : !t_n_o_hp2pmkp1
  }
  func.func @after(%x: !t_n_c_hpi, %w: !t_o_c_k) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_c_hpi) -> !t_n_c_h
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    return %1 : !t_n_o_hp2pmkp1
  }
}

!t_n_c_hpapb = tensor<?x?x?xf32, #mlc.dims<[n, c, h + a + b]>>
!t_n_o_hpapbmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + a + b - k + 1]>>

rule.def @absorb_pad_of_any_value "a border of any value in front of a convolution is part of its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.assume_real v eq 0.0
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t_n_o_hpapbmkp1 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, a]>, high = #mlc.dims<[0, 0, b]>, mode = "constant", value = #mlc.real<v>} : (!t_n_c_h) -> !t_n_c_hpapb
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_hpapb, !t_o_c_k) -> !t_n_o_hpapbmkp1
    return %1 : !t_n_o_hpapbmkp1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t_n_o_hpapbmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[a, b]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hpapbmkp1
    return %0 : !t_n_o_hpapbmkp1
  }
}

!t_n_c_hp2a = tensor<?x?x?xf32, #mlc.dims<[n, c, h + 2 * a]>>
!t_n_o_hp2a = tensor<?x?x?xf32, #mlc.dims<[n, o, h + 2 * a]>>

rule.def @pad_behind_conv "a border of zeros moves through a padded convolution"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require a eq 0 or p eq 0
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_2pp1) -> !t_n_o_hp2a {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, a]>, high = #mlc.dims<[0, 0, a]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c_h) -> !t_n_c_hp2a
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_hp2a, !t_o_c_2pp1) -> !t_n_o_hp2a
    return %1 : !t_n_o_hp2a
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_2pp1) -> !t_n_o_hp2a {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_2pp1) -> !t_n_o_h
    %1 = mlc.pad %0 {low = #mlc.dims<[0, 0, a]>, high = #mlc.dims<[0, 0, a]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_o_h) -> !t_n_o_hp2a
    return %1 : !t_n_o_hp2a
  }
}

!t_1_c_hs = tensor<1x?x?xf32, #mlc.dims<[1, c, h * s]>>
!t5 = tensor<1x?x?xf32, #mlc.dims<[1, o, floordiv(h * s - 1, s) + 1]>>
!t_o_c = tensor<?x?xf32, #mlc.dims<[o, c]>>
!t_1_c_h = tensor<1x?x?xf32, #mlc.dims<[1, c, h]>>
!t_c_h = tensor<?x?xf32, #mlc.dims<[c, h]>>
!t_o_h = tensor<?x?xf32, #mlc.dims<[o, h]>>
!t_1_o_h = tensor<1x?x?xf32, #mlc.dims<[1, o, h]>>

rule.def @strided_1x1_as_matmul "the same whatever the stride"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require h eq 1 or s eq 1
  func.func @before(%x: !t_1_c_hs, %w: !t_o_c_1) -> !t5 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_1_c_hs, !t_o_c_1) -> !t5
    return %0 : !t5
  }
  func.func @after(%x: !t_1_c_hs, %w: !t_o_c_1) -> !t_1_o_h {
    %0 = mlc.reshape %w {dims = #mlc.dims<[o, c]>} : (!t_o_c_1) -> !t_o_c
    %1 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[1, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_1_c_hs) -> !t_1_c_h
    %2 = mlc.reshape %1 {dims = #mlc.dims<[c, h]>} : (!t_1_c_h) -> !t_c_h
    %3 = mlc.matmul %0, %2 : (!t_o_c, !t_c_h) -> !t_o_h
    %4 = mlc.reshape %3 {dims = #mlc.dims<[1, o, h]>} : (!t_o_h) -> !t_1_o_h
    return %4 : !t_1_o_h
  }
}

!t_o = tensor<?xf32, #mlc.dims<[o]>>
!t_o_1_1 = tensor<?x1x1xf32, #mlc.dims<[o, 1, 1]>>
!t_1_o_1 = tensor<1x?x1xf32, #mlc.dims<[1, o, 1]>>

rule.def @fold_batch_norm_without_epsilon "the same with the epsilon forgotten"
    attributes {rule.source = "the usual folding of batch norm (Jacob et al., CVPR 2018)", rule.expect = "proved"} {
  rule.assume_real eps ge 0.0
  rule.assume_real eps eq 0.0
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k, %scale: !t_o, %bias: !t_o, %mean: !t_o, %variance: !t_o) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %1 = mlc.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = #mlc.real<eps>} : (!t_n_o_hp2pmkp1, !t_o, !t_o, !t_o, !t_o) -> !t_n_o_hp2pmkp1
    return %1 : !t_n_o_hp2pmkp1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k, %scale: !t_o, %bias: !t_o, %mean: !t_o, %variance: !t_o) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.sqrt %variance : (!t_o) -> !t_o
    %1 = mlc.div %scale, %0 : (!t_o, !t_o) -> !t_o
    %2 = mlc.reshape %1 {dims = #mlc.dims<[o, 1, 1]>} : (!t_o) -> !t_o_1_1
    %3 = mlc.broadcast %2 {dims = #mlc.dims<[o, c, k]>} : (!t_o_1_1) -> !t_o_c_k
    %4 = mlc.mul %w, %3 : (!t_o_c_k, !t_o_c_k) -> !t_o_c_k
    %5 = mlc.conv %x, %4 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %6 = mlc.mul %mean, %1 : (!t_o, !t_o) -> !t_o
    %7 = mlc.sub %bias, %6 : (!t_o, !t_o) -> !t_o
    %8 = mlc.reshape %7 {dims = #mlc.dims<[1, o, 1]>} : (!t_o) -> !t_1_o_1
    %9 = mlc.broadcast %8 {dims = #mlc.dims<[n, o, h + 2 * p - k + 1]>} : (!t_1_o_1) -> !t_n_o_hp2pmkp1
    %10 = mlc.add %5, %9 : (!t_n_o_hp2pmkp1, !t_n_o_hp2pmkp1) -> !t_n_o_hp2pmkp1
    return %10 : !t_n_o_hp2pmkp1
  }
}

!t_1_c_1 = tensor<1x?x1xf32, #mlc.dims<[1, c, 1]>>

rule.def @shift_through_conv "a shift of each channel in front of a convolution becomes a bias (a batch norm in front)"
    attributes {rule.source = "the usual folding of batch norm (Jacob et al., CVPR 2018)", rule.expect = "proved"} {
  rule.require p eq 0
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k, %bias: !t_c) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.reshape %bias {dims = #mlc.dims<[1, c, 1]>} : (!t_c) -> !t_1_c_1
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[n, c, h]>} : (!t_1_c_1) -> !t_n_c_h
    %2 = mlc.add %x, %1 : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    %3 = mlc.conv %2, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    return %3 : !t_n_o_hp2pmkp1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k, %bias: !t_c) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.reshape %bias {dims = #mlc.dims<[1, c, 1]>} : (!t_c) -> !t_1_c_1
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[o, c, k]>} : (!t_1_c_1) -> !t_o_c_k
    %2 = mlc.mul %w, %1 : (!t_o_c_k, !t_o_c_k) -> !t_o_c_k
    %3 = mlc.reduce %2 {kind = "sum", axes = array<i64: 1, 2>} : (!t_o_c_k) -> !t_o_1_1
    %4 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %5 = mlc.reshape %3 {dims = #mlc.dims<[1, o, 1]>} : (!t_o_1_1) -> !t_1_o_1
    %6 = mlc.broadcast %5 {dims = #mlc.dims<[n, o, h + 2 * p - k + 1]>} : (!t_1_o_1) -> !t_n_o_hp2pmkp1
    %7 = mlc.add %4, %6 : (!t_n_o_hp2pmkp1, !t_n_o_hp2pmkp1) -> !t_n_o_hp2pmkp1
    return %7 : !t_n_o_hp2pmkp1
  }
}

!t6 = tensor<?x?x?xf32, #mlc.dims<[n, c, floordiv(h + 2 * p - k, s) + 1]>>
!t_c_1_k = tensor<?x1x?xf32, #mlc.dims<[c, 1, k]>>
!t_k = tensor<?xf32, #mlc.dims<[k]>>

rule.def @avg_pool_without_padding_as_conv "the same for one that does not count its padding"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  rule.require c ge 1
  rule.require p eq 0
  func.func @before(%x: !t_n_c_h) -> !t6 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!t_n_c_h) -> !t6
    return %0 : !t6
  }
  func.func @after(%x: !t_n_c_h) -> !t6 {
    %0 = mlc.fill {dims = #mlc.dims<[c, 1, k]>, value = #mlc.real<1.0>, type = f32} : () -> !t_c_1_k
    %1 = mlc.fill {dims = #mlc.dims<[k]>, value = #mlc.real<1.0>, type = f32} : () -> !t_k
    %2 = mlc.reduce %1 {kind = "sum", axes = array<i64: 0>} : (!t_k) -> tensor<1xf32>
    %3 = mlc.reshape %2 {dims = #mlc.dims<[1, 1, 1]>} : (tensor<1xf32>) -> tensor<1x1x1xf32>
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[c, 1, k]>} : (tensor<1x1x1xf32>) -> !t_c_1_k
    %5 = mlc.div %0, %4 : (!t_c_1_k, !t_c_1_k) -> !t_c_1_k
    %6 = mlc.conv %x, %5 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<c>} : (!t_n_c_h, !t_c_1_k) -> !t6
    return %6 : !t6
  }
}

!t_n_c_floordivhmksp1 = tensor<?x?x?xf32, #mlc.dims<[n, c, floordiv(h - k, s) + 1]>>

rule.def @avg_pool_of_relu "relu(avg_pool(x)) = avg_pool(relu(x))"
    attributes {rule.source = "a slip of the pen", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  rule.require k eq 1
  func.func @before(%x: !t_n_c_h) -> !t_n_c_floordivhmksp1 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t_n_c_floordivhmksp1
    %1 = mlc.relu %0 : (!t_n_c_floordivhmksp1) -> !t_n_c_floordivhmksp1
    return %1 : !t_n_c_floordivhmksp1
  }
  func.func @after(%x: !t_n_c_h) -> !t_n_c_floordivhmksp1 {
    %0 = mlc.relu %x : (!t_n_c_h) -> !t_n_c_h
    %1 = mlc.avg_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t_n_c_floordivhmksp1
    return %1 : !t_n_c_floordivhmksp1
  }
}

!t_n_c_hp2p = tensor<?x?x?xf32, #mlc.dims<[n, c, h + 2 * p]>>
!t_n_c_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, c, h + 2 * p - k + 1]>>

rule.def @pad_in_front_of_max_pool "a border of zeros in front of a max pool is part of its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.require k ge 1
  rule.require p lt k
  rule.require p eq 0
  func.func @before(%x: !t_n_c_h) -> !t_n_c_hp2pmkp1 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, p]>, high = #mlc.dims<[0, 0, p]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c_h) -> !t_n_c_hp2p
    %1 = mlc.max_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_hp2p) -> !t_n_c_hp2pmkp1
    return %1 : !t_n_c_hp2pmkp1
  }
  func.func @after(%x: !t_n_c_h) -> !t_n_c_hp2pmkp1 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hp2pmkp1
    return %0 : !t_n_c_hp2pmkp1
  }
}

rule.def @pad_in_front_of_other_avg_pool "the same for one that does not count its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  rule.require p lt k
  rule.require p eq 0
  func.func @before(%x: !t_n_c_h) -> !t6 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, p]>, high = #mlc.dims<[0, 0, p]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c_h) -> !t_n_c_hp2p
    %1 = mlc.avg_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_hp2p) -> !t6
    return %1 : !t6
  }
  func.func @after(%x: !t_n_c_h) -> !t6 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!t_n_c_h) -> !t6
    return %0 : !t6
  }
}

!t_n_c_i = tensor<?x?x?xf32, #mlc.dims<[n, c, i]>>

rule.def @pools_of_concat_along_pixels "the same along the pixels"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require k ge 1
  rule.require k eq 1
  func.func @before(%x: !t_n_c_h, %y: !t_n_c_i) -> !t_n_c_hpi {
    %0 = mlc.concat %x, %y {axis = 2 : i64} : (!t_n_c_h, !t_n_c_i) -> !t_n_c_hpi
    %1 = mlc.avg_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[k - 1, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_hpi) -> !t_n_c_hpi
    %2 = mlc.slice %1 {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, c, h + i]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_c_hpi) -> !t_n_c_hpi
    return %2 : !t_n_c_hpi
  }
  func.func @after(%x: !t_n_c_h, %y: !t_n_c_i) -> !t_n_c_hpi {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[k - 1, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t_n_c_h
    %1 = mlc.avg_pool %y {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[k - 1, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_i) -> !t_n_c_i
    %2 = mlc.concat %0, %1 {axis = 2 : i64} : (!t_n_c_h, !t_n_c_i) -> !t_n_c_hpi
    return %2 : !t_n_c_hpi
  }
}
