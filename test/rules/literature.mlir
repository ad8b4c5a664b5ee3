// Rewrites from the literature, right and wrong, in our own words: what
// `mlc-rules audit` is tested on. docs/Audit.md shows its answers.
//
// rule.source   where the rewrite, or the check that it lacks, comes from
// rule.expect   proved or refuted
// rule.holds    of some refuted ones: the condition under which they do hold,
//               as the audit must find and prove it
//
// Sizes: x is [n, c, h] or [n, c, h, i], weights are [o, c, k] or [o, c, k, l].

//===----------------------------------------------------------------------===//
// Element-wise operators
//===----------------------------------------------------------------------===//

!t_a_b = tensor<?x?xf32, #mlc.dims<[a, b]>>

rule.def @add_commutes "x + y = y + x"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.add %y, %x : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
}

rule.def @add_associates "(x + y) + z = x + (y + z)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.add %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.add %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @mul_commutes "x y = y x"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %y, %x : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
}

rule.def @mul_associates "(x y) z = x (y z)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.mul %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.mul %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @mul_distributes "(x + y) z = x z + y z"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.mul %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.mul %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.add %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
}

rule.def @sub_does_not_commute "x - y = y - x, a slip"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.sub %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.sub %y, %x : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
}

rule.def @sub_associates_wrongly "(x - y) - z = x - (y - z)"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.sub %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.sub %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.sub %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.sub %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @quotient_of_sum "(x + y) / z = x / z + y / z"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.div %x, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.add %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
}

rule.def @division_by_sum_wrongly "x / (y + z) = x / y + x / z"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.div %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %x, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.add %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
}

rule.def @quotient_of_quotient "(x / y) / z = x / (y z)"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.div %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @cancel_divisor "(x y) / y = x"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %0, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

rule.def @introduce_divisor "x = (x y) / y, the same from right to left"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "%y is non-zero"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.div %0, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @sub_of_itself "x - x = 0"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.sub %x, %x : (!t_a_b, !t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<0.0>, type = f32} : () -> !t_a_b
    return %0 : !t_a_b
  }
}

rule.def @exp_of_sum "exp(x) exp(y) = exp(x + y)"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.exp %x : (!t_a_b) -> !t_a_b
    %1 = mlc.exp %y : (!t_a_b) -> !t_a_b
    %2 = mlc.mul %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.exp %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @exp_of_product_wrongly "exp(x y) = exp(x) exp(y)"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.exp %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.exp %x : (!t_a_b) -> !t_a_b
    %1 = mlc.exp %y : (!t_a_b) -> !t_a_b
    %2 = mlc.mul %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
}

rule.def @log_of_exp "log(exp(x)) = x"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.exp %x : (!t_a_b) -> !t_a_b
    %1 = mlc.log %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

rule.def @exp_of_log "exp(log(x)) = x: x is positive where the left side has a value"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.log %x : (!t_a_b) -> !t_a_b
    %1 = mlc.exp %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

rule.def @introduce_exp_of_log "x = exp(log(x))"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "%x is positive"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.log %x : (!t_a_b) -> !t_a_b
    %1 = mlc.exp %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @square_of_root "sqrt(x) sqrt(x) = x"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.sqrt %x : (!t_a_b) -> !t_a_b
    %1 = mlc.sqrt %x : (!t_a_b) -> !t_a_b
    %2 = mlc.mul %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

rule.def @root_of_square "sqrt(x x) = x"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "%x is non-negative"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.mul %x, %x : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.sqrt %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

rule.def @relu_twice "relu(relu(x)) = relu(x)"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.relu %x : (!t_a_b) -> !t_a_b
    %1 = mlc.relu %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.relu %x : (!t_a_b) -> !t_a_b
    return %0 : !t_a_b
  }
}

rule.def @max_associates "max(max(x, y), z) = max(x, max(y, z))"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.max %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.max %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.max %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.max %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @max_of_shifted "max(x + z, y + z) = max(x, y) + z"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.add %y, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.max %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.max %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.add %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @max_of_one_shifted_wrongly "max(x + z, y) = max(x, y) + z"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %z : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.max %0, %y : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b, %z: !t_a_b) -> !t_a_b {
    %0 = mlc.max %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.add %0, %z : (!t_a_b, !t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
}

rule.def @scale_leaves_relu "relu(t x) = t relu(x) for a number t"
    attributes {rule.source = "TENSAT (Yang et al., MLSys 2021)", rule.expect = "refuted", rule.holds = "t >= 0"} {
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

rule.def @relu_of_sum_wrongly "relu(x + y) = relu(x) + relu(y)"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.add %x, %y : (!t_a_b, !t_a_b) -> !t_a_b
    %1 = mlc.relu %0 : (!t_a_b) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b, %y: !t_a_b) -> !t_a_b {
    %0 = mlc.relu %x : (!t_a_b) -> !t_a_b
    %1 = mlc.relu %y : (!t_a_b) -> !t_a_b
    %2 = mlc.add %0, %1 : (!t_a_b, !t_a_b) -> !t_a_b
    return %2 : !t_a_b
  }
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

!t_n_k = tensor<?x?xf32, #mlc.dims<[n, k]>>
!t_k_l = tensor<?x?xf32, #mlc.dims<[k, l]>>
!t_n_l = tensor<?x?xf32, #mlc.dims<[n, l]>>
!t_l_o = tensor<?x?xf32, #mlc.dims<[l, o]>>
!t_n_o = tensor<?x?xf32, #mlc.dims<[n, o]>>
!t_k_o = tensor<?x?xf32, #mlc.dims<[k, o]>>

rule.def @matmul_associates "(A B) C = A (B C)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l, %z: !t_l_o) -> !t_n_o {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %0, %z : (!t_n_l, !t_l_o) -> !t_n_o
    return %1 : !t_n_o
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l, %z: !t_l_o) -> !t_n_o {
    %0 = mlc.matmul %y, %z : (!t_k_l, !t_l_o) -> !t_k_o
    %1 = mlc.matmul %x, %0 : (!t_n_k, !t_k_o) -> !t_n_o
    return %1 : !t_n_o
  }
}

rule.def @matmul_distributes "A (B + C) = A B + A C"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l, %z: !t_k_l) -> !t_n_l {
    %0 = mlc.add %y, %z : (!t_k_l, !t_k_l) -> !t_k_l
    %1 = mlc.matmul %x, %0 : (!t_n_k, !t_k_l) -> !t_n_l
    return %1 : !t_n_l
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l, %z: !t_k_l) -> !t_n_l {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %x, %z : (!t_n_k, !t_k_l) -> !t_n_l
    %2 = mlc.add %0, %1 : (!t_n_l, !t_n_l) -> !t_n_l
    return %2 : !t_n_l
  }
}

rule.def @scale_leaves_matmul "(t A) B = t (A B)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l) -> !t_n_l {
    %0 = mlc.fill {dims = #mlc.dims<[n, k]>, value = #mlc.real<t>, type = f32} : () -> !t_n_k
    %1 = mlc.mul %x, %0 : (!t_n_k, !t_n_k) -> !t_n_k
    %2 = mlc.matmul %1, %y : (!t_n_k, !t_k_l) -> !t_n_l
    return %2 : !t_n_l
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l) -> !t_n_l {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.fill {dims = #mlc.dims<[n, l]>, value = #mlc.real<t>, type = f32} : () -> !t_n_l
    %2 = mlc.mul %0, %1 : (!t_n_l, !t_n_l) -> !t_n_l
    return %2 : !t_n_l
  }
}

!t_n_n = tensor<?x?xf32, #mlc.dims<[n, n]>>

rule.def @matmul_commutes_wrongly "A B = B A for square matrices"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_n_n, %y: !t_n_n) -> !t_n_n {
    %0 = mlc.matmul %x, %y : (!t_n_n, !t_n_n) -> !t_n_n
    return %0 : !t_n_n
  }
  func.func @after(%x: !t_n_n, %y: !t_n_n) -> !t_n_n {
    %0 = mlc.matmul %y, %x : (!t_n_n, !t_n_n) -> !t_n_n
    return %0 : !t_n_n
  }
}

!t_l_n = tensor<?x?xf32, #mlc.dims<[l, n]>>
!t_l_k = tensor<?x?xf32, #mlc.dims<[l, k]>>
!t_k_n = tensor<?x?xf32, #mlc.dims<[k, n]>>

rule.def @transpose_of_matmul "(A B)^T = B^T A^T"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l) -> !t_l_n {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!t_n_l) -> !t_l_n
    return %1 : !t_l_n
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l) -> !t_l_n {
    %0 = mlc.transpose %y {permutation = array<i64: 1, 0>} : (!t_k_l) -> !t_l_k
    %1 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_n_k) -> !t_k_n
    %2 = mlc.matmul %0, %1 : (!t_l_k, !t_k_n) -> !t_l_n
    return %2 : !t_l_n
  }
}

rule.def @transpose_of_matmul_wrongly "(A B)^T = A^T B^T for square matrices"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_n_n, %y: !t_n_n) -> !t_n_n {
    %0 = mlc.matmul %x, %y : (!t_n_n, !t_n_n) -> !t_n_n
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!t_n_n) -> !t_n_n
    return %1 : !t_n_n
  }
  func.func @after(%x: !t_n_n, %y: !t_n_n) -> !t_n_n {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_n_n) -> !t_n_n
    %1 = mlc.transpose %y {permutation = array<i64: 1, 0>} : (!t_n_n) -> !t_n_n
    %2 = mlc.matmul %0, %1 : (!t_n_n, !t_n_n) -> !t_n_n
    return %2 : !t_n_n
  }
}

!t_n_lpo = tensor<?x?xf32, #mlc.dims<[n, l + o]>>
!t_k_lpo = tensor<?x?xf32, #mlc.dims<[k, l + o]>>

rule.def @matmuls_of_one_left_side "A B beside A C is A times B beside C (the merged query, key and value products)"
    attributes {rule.source = "TENSAT (Yang et al., MLSys 2021)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l, %z: !t_k_o) -> !t_n_lpo {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %x, %z : (!t_n_k, !t_k_o) -> !t_n_o
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_n_l, !t_n_o) -> !t_n_lpo
    return %2 : !t_n_lpo
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l, %z: !t_k_o) -> !t_n_lpo {
    %0 = mlc.concat %y, %z {axis = 1 : i64} : (!t_k_l, !t_k_o) -> !t_k_lpo
    %1 = mlc.matmul %x, %0 : (!t_n_k, !t_k_lpo) -> !t_n_lpo
    return %1 : !t_n_lpo
  }
}

!t_o_k = tensor<?x?xf32, #mlc.dims<[o, k]>>
!t_o_l = tensor<?x?xf32, #mlc.dims<[o, l]>>
!t_npo_l = tensor<?x?xf32, #mlc.dims<[n + o, l]>>
!t_npo_k = tensor<?x?xf32, #mlc.dims<[n + o, k]>>

rule.def @matmuls_of_one_right_side "A C above B C is A above B times C"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_o_k, %z: !t_k_l) -> !t_npo_l {
    %0 = mlc.matmul %x, %z : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %y, %z : (!t_o_k, !t_k_l) -> !t_o_l
    %2 = mlc.concat %0, %1 {axis = 0 : i64} : (!t_n_l, !t_o_l) -> !t_npo_l
    return %2 : !t_npo_l
  }
  func.func @after(%x: !t_n_k, %y: !t_o_k, %z: !t_k_l) -> !t_npo_l {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!t_n_k, !t_o_k) -> !t_npo_k
    %1 = mlc.matmul %0, %z : (!t_npo_k, !t_k_l) -> !t_npo_l
    return %1 : !t_npo_l
  }
}

rule.def @two_matmuls_become_one_and_slices "both A B and A C are parts of A times B beside C"
    attributes {rule.source = "TENSAT (Yang et al., MLSys 2021)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l, %z: !t_k_o) -> (!t_n_l, !t_n_o) {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %x, %z : (!t_n_k, !t_k_o) -> !t_n_o
    return %0, %1 : !t_n_l, !t_n_o
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l, %z: !t_k_o) -> (!t_n_l, !t_n_o) {
    %0 = mlc.concat %y, %z {axis = 1 : i64} : (!t_k_l, !t_k_o) -> !t_k_lpo
    %1 = mlc.matmul %x, %0 : (!t_n_k, !t_k_lpo) -> !t_n_lpo
    %2 = mlc.slice %1 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[n, l]>, steps = #mlc.dims<[1, 1]>} : (!t_n_lpo) -> !t_n_l
    %3 = mlc.slice %1 {starts = #mlc.dims<[0, l]>, sizes = #mlc.dims<[n, o]>, steps = #mlc.dims<[1, 1]>} : (!t_n_lpo) -> !t_n_o
    return %2, %3 : !t_n_l, !t_n_o
  }
}

!t_n_kpo = tensor<?x?xf32, #mlc.dims<[n, k + o]>>
!t_kpo_l = tensor<?x?xf32, #mlc.dims<[k + o, l]>>

rule.def @sum_of_matmuls "A B + C D is A beside C times B above D (the gates of a recurrent cell)"
    attributes {rule.source = "TENSAT (Yang et al., MLSys 2021)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l, %z: !t_n_o, %w: !t_o_l) -> !t_n_l {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %z, %w : (!t_n_o, !t_o_l) -> !t_n_l
    %2 = mlc.add %0, %1 : (!t_n_l, !t_n_l) -> !t_n_l
    return %2 : !t_n_l
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l, %z: !t_n_o, %w: !t_o_l) -> !t_n_l {
    %0 = mlc.concat %x, %z {axis = 1 : i64} : (!t_n_k, !t_n_o) -> !t_n_kpo
    %1 = mlc.concat %y, %w {axis = 0 : i64} : (!t_k_l, !t_o_l) -> !t_kpo_l
    %2 = mlc.matmul %0, %1 : (!t_n_kpo, !t_kpo_l) -> !t_n_l
    return %2 : !t_n_l
  }
}

!t_n_2k = tensor<?x?xf32, #mlc.dims<[n, 2 * k]>>
!t_2k_l = tensor<?x?xf32, #mlc.dims<[2 * k, l]>>

rule.def @sum_of_matmuls_crossed "the same with the right sides exchanged"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l, %z: !t_n_k, %w: !t_k_l) -> !t_n_l {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.matmul %z, %w : (!t_n_k, !t_k_l) -> !t_n_l
    %2 = mlc.add %0, %1 : (!t_n_l, !t_n_l) -> !t_n_l
    return %2 : !t_n_l
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l, %z: !t_n_k, %w: !t_k_l) -> !t_n_l {
    %0 = mlc.concat %x, %z {axis = 1 : i64} : (!t_n_k, !t_n_k) -> !t_n_2k
    %1 = mlc.concat %w, %y {axis = 0 : i64} : (!t_k_l, !t_k_l) -> !t_2k_l
    %2 = mlc.matmul %0, %1 : (!t_n_2k, !t_2k_l) -> !t_n_l
    return %2 : !t_n_l
  }
}

rule.def @relu_leaves_matmul_wrongly "relu(A B) = relu(A) B"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_n_k, %y: !t_k_l) -> !t_n_l {
    %0 = mlc.matmul %x, %y : (!t_n_k, !t_k_l) -> !t_n_l
    %1 = mlc.relu %0 : (!t_n_l) -> !t_n_l
    return %1 : !t_n_l
  }
  func.func @after(%x: !t_n_k, %y: !t_k_l) -> !t_n_l {
    %0 = mlc.relu %x : (!t_n_k) -> !t_n_k
    %1 = mlc.matmul %0, %y : (!t_n_k, !t_k_l) -> !t_n_l
    return %1 : !t_n_l
  }
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

!t_b_a = tensor<?x?xf32, #mlc.dims<[b, a]>>

rule.def @transpose_twice "(x^T)^T = x"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_b {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_a_b) -> !t_b_a
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!t_b_a) -> !t_a_b
    return %1 : !t_a_b
  }
  func.func @after(%x: !t_a_b) -> !t_a_b {
    return %x : !t_a_b
  }
}

!t_a_b_c = tensor<?x?x?xf32, #mlc.dims<[a, b, c]>>
!t_b_c_a = tensor<?x?x?xf32, #mlc.dims<[b, c, a]>>
!t_b_a_c = tensor<?x?x?xf32, #mlc.dims<[b, a, c]>>

rule.def @transposes_compose "two permutations of axes are one"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b_c) -> !t_b_a_c {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 2, 0>} : (!t_a_b_c) -> !t_b_c_a
    %1 = mlc.transpose %0 {permutation = array<i64: 0, 2, 1>} : (!t_b_c_a) -> !t_b_a_c
    return %1 : !t_b_a_c
  }
  func.func @after(%x: !t_a_b_c) -> !t_b_a_c {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0, 2>} : (!t_a_b_c) -> !t_b_a_c
    return %0 : !t_b_a_c
  }
}

!t_a_a_a = tensor<?x?x?xf32, #mlc.dims<[a, a, a]>>

rule.def @transposes_compose_wrongly "two permutations of axes in the wrong order"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_a_a) -> !t_a_a_a {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 2, 0>} : (!t_a_a_a) -> !t_a_a_a
    %1 = mlc.transpose %0 {permutation = array<i64: 0, 2, 1>} : (!t_a_a_a) -> !t_a_a_a
    return %1 : !t_a_a_a
  }
  func.func @after(%x: !t_a_a_a) -> !t_a_a_a {
    %0 = mlc.transpose %x {permutation = array<i64: 2, 1, 0>} : (!t_a_a_a) -> !t_a_a_a
    return %0 : !t_a_a_a
  }
}

rule.def @relu_of_transpose "relu(x^T) = relu(x)^T"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_b_a {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_a_b) -> !t_b_a
    %1 = mlc.relu %0 : (!t_b_a) -> !t_b_a
    return %1 : !t_b_a
  }
  func.func @after(%x: !t_a_b) -> !t_b_a {
    %0 = mlc.relu %x : (!t_a_b) -> !t_a_b
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!t_a_b) -> !t_b_a
    return %1 : !t_b_a
  }
}

// Compilers use it where one of the dims is 1.
rule.def @transpose_is_no_reshape "a transpose is a reshape"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "a == 1 or b == 1"} {
  func.func @before(%x: !t_a_b) -> !t_b_a {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_a_b) -> !t_b_a
    return %0 : !t_b_a
  }
  func.func @after(%x: !t_a_b) -> !t_b_a {
    %0 = mlc.reshape %x {dims = #mlc.dims<[b, a]>} : (!t_a_b) -> !t_b_a
    return %0 : !t_b_a
  }
}

!t_ab_c = tensor<?x?xf32, #mlc.dims<[a * b, c]>>
!t_a_bc = tensor<?x?xf32, #mlc.dims<[a, b * c]>>

rule.def @reshape_of_reshape "two reshapes are one"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b_c) -> !t_a_bc {
    %0 = mlc.reshape %x {dims = #mlc.dims<[a * b, c]>} : (!t_a_b_c) -> !t_ab_c
    %1 = mlc.reshape %0 {dims = #mlc.dims<[a, b * c]>} : (!t_ab_c) -> !t_a_bc
    return %1 : !t_a_bc
  }
  func.func @after(%x: !t_a_b_c) -> !t_a_bc {
    %0 = mlc.reshape %x {dims = #mlc.dims<[a, b * c]>} : (!t_a_b_c) -> !t_a_bc
    return %0 : !t_a_bc
  }
}

!t_n = tensor<?xf32, #mlc.dims<[n]>>
!t_b = tensor<?xf32, #mlc.dims<[b]>>
!t_e = tensor<?xf32, #mlc.dims<[e]>>

rule.def @slice_of_slice "a slice of a slice is one slice"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require t ge 1
  func.func @before(%x: !t_n) -> !t_e {
    %0 = mlc.slice %x {starts = #mlc.dims<[a]>, sizes = #mlc.dims<[b]>, steps = #mlc.dims<[s]>} : (!t_n) -> !t_b
    %1 = mlc.slice %0 {starts = #mlc.dims<[d]>, sizes = #mlc.dims<[e]>, steps = #mlc.dims<[t]>} : (!t_b) -> !t_e
    return %1 : !t_e
  }
  func.func @after(%x: !t_n) -> !t_e {
    %0 = mlc.slice %x {starts = #mlc.dims<[a + d * s]>, sizes = #mlc.dims<[e]>, steps = #mlc.dims<[s * t]>} : (!t_n) -> !t_e
    return %0 : !t_e
  }
}

rule.def @slice_of_slice_without_stride "the same with the first stride forgotten in the start"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  rule.require s ge 1
  rule.require t ge 1
  func.func @before(%x: !t_n) -> !t_e {
    %0 = mlc.slice %x {starts = #mlc.dims<[a]>, sizes = #mlc.dims<[b]>, steps = #mlc.dims<[s]>} : (!t_n) -> !t_b
    %1 = mlc.slice %0 {starts = #mlc.dims<[d]>, sizes = #mlc.dims<[e]>, steps = #mlc.dims<[t]>} : (!t_b) -> !t_e
    return %1 : !t_e
  }
  func.func @after(%x: !t_n) -> !t_e {
    %0 = mlc.slice %x {starts = #mlc.dims<[a + d]>, sizes = #mlc.dims<[e]>, steps = #mlc.dims<[s * t]>} : (!t_n) -> !t_e
    return %0 : !t_e
  }
}

!t_a_c = tensor<?x?xf32, #mlc.dims<[a, c]>>
!t_b_c = tensor<?x?xf32, #mlc.dims<[b, c]>>
!t_apb_c = tensor<?x?xf32, #mlc.dims<[a + b, c]>>

rule.def @slice_of_concat "the first part of x beside y is x"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_c, %y: !t_b_c) -> !t_a_c {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!t_a_c, !t_b_c) -> !t_apb_c
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[a, c]>, steps = #mlc.dims<[1, 1]>} : (!t_apb_c) -> !t_a_c
    return %1 : !t_a_c
  }
  func.func @after(%x: !t_a_c, %y: !t_b_c) -> !t_a_c {
    return %x : !t_a_c
  }
}

!t_2a_c = tensor<?x?xf32, #mlc.dims<[2 * a, c]>>

rule.def @slice_of_concat_wrong_part "the first rows of x above y are y"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  func.func @before(%x: !t_a_c, %y: !t_a_c) -> !t_a_c {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!t_a_c, !t_a_c) -> !t_2a_c
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[a, c]>, steps = #mlc.dims<[1, 1]>} : (!t_2a_c) -> !t_a_c
    return %1 : !t_a_c
  }
  func.func @after(%x: !t_a_c, %y: !t_a_c) -> !t_a_c {
    return %y : !t_a_c
  }
}

rule.def @concat_of_slices "the two parts of x beside each other are x"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_apb_c) -> !t_apb_c {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[a, c]>, steps = #mlc.dims<[1, 1]>} : (!t_apb_c) -> !t_a_c
    %1 = mlc.slice %x {starts = #mlc.dims<[a, 0]>, sizes = #mlc.dims<[b, c]>, steps = #mlc.dims<[1, 1]>} : (!t_apb_c) -> !t_b_c
    %2 = mlc.concat %0, %1 {axis = 0 : i64} : (!t_a_c, !t_b_c) -> !t_apb_c
    return %2 : !t_apb_c
  }
  func.func @after(%x: !t_apb_c) -> !t_apb_c {
    return %x : !t_apb_c
  }
}

!t_c_apb = tensor<?x?xf32, #mlc.dims<[c, a + b]>>
!t_c_a = tensor<?x?xf32, #mlc.dims<[c, a]>>
!t_c_b = tensor<?x?xf32, #mlc.dims<[c, b]>>

rule.def @transpose_of_concat "(x above y)^T = x^T beside y^T"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_c, %y: !t_b_c) -> !t_c_apb {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!t_a_c, !t_b_c) -> !t_apb_c
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!t_apb_c) -> !t_c_apb
    return %1 : !t_c_apb
  }
  func.func @after(%x: !t_a_c, %y: !t_b_c) -> !t_c_apb {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_a_c) -> !t_c_a
    %1 = mlc.transpose %y {permutation = array<i64: 1, 0>} : (!t_b_c) -> !t_c_b
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_c_a, !t_c_b) -> !t_c_apb
    return %2 : !t_c_apb
  }
}

!t_n_a = tensor<?x?xf32, #mlc.dims<[n, a]>>
!t_n_b = tensor<?x?xf32, #mlc.dims<[n, b]>>
!t_n_apb = tensor<?x?xf32, #mlc.dims<[n, a + b]>>

rule.def @relu_of_concat "relu(x beside y) = relu(x) beside relu(y)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_a, %y: !t_n_b) -> !t_n_apb {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    %1 = mlc.relu %0 : (!t_n_apb) -> !t_n_apb
    return %1 : !t_n_apb
  }
  func.func @after(%x: !t_n_a, %y: !t_n_b) -> !t_n_apb {
    %0 = mlc.relu %x : (!t_n_a) -> !t_n_a
    %1 = mlc.relu %y : (!t_n_b) -> !t_n_b
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    return %2 : !t_n_apb
  }
}

rule.def @sum_of_concats "(x beside y) + (z beside w) = (x + z) beside (y + w)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_a, %y: !t_n_b, %z: !t_n_a, %w: !t_n_b) -> !t_n_apb {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    %1 = mlc.concat %z, %w {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    %2 = mlc.add %0, %1 : (!t_n_apb, !t_n_apb) -> !t_n_apb
    return %2 : !t_n_apb
  }
  func.func @after(%x: !t_n_a, %y: !t_n_b, %z: !t_n_a, %w: !t_n_b) -> !t_n_apb {
    %0 = mlc.add %x, %z : (!t_n_a, !t_n_a) -> !t_n_a
    %1 = mlc.add %y, %w : (!t_n_b, !t_n_b) -> !t_n_b
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    return %2 : !t_n_apb
  }
}

!t_2n_n = tensor<?x?xf32, #mlc.dims<[2 * n, n]>>
!t_2nn = tensor<?xf32, #mlc.dims<[2 * n * n]>>
!t_n_2n = tensor<?x?xf32, #mlc.dims<[n, 2 * n]>>

// Shapes agree after the reshape, so a check of sizes does not see it.
rule.def @concat_along_another_axis "concatenations along different axes, the numbers alone compared"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "n == 1"} {
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

!t_npapb = tensor<?xf32, #mlc.dims<[n + a + b]>>
!t_npapbpcpd = tensor<?xf32, #mlc.dims<[n + a + b + c + d]>>
!t_npapcpbpd = tensor<?xf32, #mlc.dims<[n + a + c + b + d]>>

rule.def @pad_of_pad "two borders of one value are one"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_n) -> !t_npapbpcpd {
    %0 = mlc.pad %x {low = #mlc.dims<[a]>, high = #mlc.dims<[b]>, mode = "constant", value = #mlc.real<v>} : (!t_n) -> !t_npapb
    %1 = mlc.pad %0 {low = #mlc.dims<[c]>, high = #mlc.dims<[d]>, mode = "constant", value = #mlc.real<v>} : (!t_npapb) -> !t_npapbpcpd
    return %1 : !t_npapbpcpd
  }
  func.func @after(%x: !t_n) -> !t_npapcpbpd {
    %0 = mlc.pad %x {low = #mlc.dims<[a + c]>, high = #mlc.dims<[b + d]>, mode = "constant", value = #mlc.real<v>} : (!t_n) -> !t_npapcpbpd
    return %0 : !t_npapcpbpd
  }
}

rule.def @pad_of_pad_of_another_value "two borders of different values are one"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted"} {
  func.func @before(%x: !t_n) -> !t_npapbpcpd {
    %0 = mlc.pad %x {low = #mlc.dims<[a]>, high = #mlc.dims<[b]>, mode = "constant", value = #mlc.real<u>} : (!t_n) -> !t_npapb
    %1 = mlc.pad %0 {low = #mlc.dims<[c]>, high = #mlc.dims<[d]>, mode = "constant", value = #mlc.real<v>} : (!t_npapb) -> !t_npapbpcpd
    return %1 : !t_npapbpcpd
  }
  func.func @after(%x: !t_n) -> !t_npapcpbpd {
    %0 = mlc.pad %x {low = #mlc.dims<[a + c]>, high = #mlc.dims<[b + d]>, mode = "constant", value = #mlc.real<v>} : (!t_n) -> !t_npapcpbpd
    return %0 : !t_npapcpbpd
  }
}

!t_c = tensor<?xf32, #mlc.dims<[c]>>
!t_1_c = tensor<1x?xf32, #mlc.dims<[1, c]>>
!t_n_c = tensor<?x?xf32, #mlc.dims<[n, c]>>
!t_npapb_c = tensor<?x?xf32, #mlc.dims<[n + a + b, c]>>

rule.def @pad_of_scaled "a border around x times a broadcast y is the border around x, times y"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "v == 0 or (a == 0 and b == 0)"} {
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
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "a == 0 and b == 0"} {
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

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

!t_a_1_c = tensor<?x1x?xf32, #mlc.dims<[a, 1, c]>>
!t_a_1_1 = tensor<?x1x1xf32, #mlc.dims<[a, 1, 1]>>

rule.def @sum_of_sums "sums over two axes, one after the other, are one sum"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b_c) -> !t_a_1_1 {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_a_b_c) -> !t_a_1_c
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 2>} : (!t_a_1_c) -> !t_a_1_1
    return %1 : !t_a_1_1
  }
  func.func @after(%x: !t_a_b_c) -> !t_a_1_1 {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1, 2>} : (!t_a_b_c) -> !t_a_1_1
    return %0 : !t_a_1_1
  }
}

!t_n_1 = tensor<?x1xf32, #mlc.dims<[n, 1]>>

rule.def @sum_of_concat "the sum of x beside y is the sum of x plus the sum of y"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_a, %y: !t_n_b) -> !t_n_1 {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_a, !t_n_b) -> !t_n_apb
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 1>} : (!t_n_apb) -> !t_n_1
    return %1 : !t_n_1
  }
  func.func @after(%x: !t_n_a, %y: !t_n_b) -> !t_n_1 {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_n_a) -> !t_n_1
    %1 = mlc.reduce %y {kind = "sum", axes = array<i64: 1>} : (!t_n_b) -> !t_n_1
    %2 = mlc.add %0, %1 : (!t_n_1, !t_n_1) -> !t_n_1
    return %2 : !t_n_1
  }
}

rule.def @mean_of_concat "the mean of x beside y is the mean of their means"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "refuted", rule.holds = "a == b"} {
  rule.require a ge 1
  rule.require b ge 1
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

rule.def @scale_leaves_sum "sum(t x) = t sum(x)"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_a_1 {
    %0 = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<t>, type = f32} : () -> !t_a_b
    %1 = mlc.mul %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.reduce %1 {kind = "sum", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    return %2 : !t_a_1
  }
  func.func @after(%x: !t_a_b) -> !t_a_1 {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    %1 = mlc.fill {dims = #mlc.dims<[a, 1]>, value = #mlc.real<t>, type = f32} : () -> !t_a_1
    %2 = mlc.mul %0, %1 : (!t_a_1, !t_a_1) -> !t_a_1
    return %2 : !t_a_1
  }
}

rule.def @scale_leaves_max "max(t x) = t max(x) along an axis"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted"} {
  rule.require b ge 1
  func.func @before(%x: !t_a_b) -> !t_a_1 {
    %0 = mlc.fill {dims = #mlc.dims<[a, b]>, value = #mlc.real<t>, type = f32} : () -> !t_a_b
    %1 = mlc.mul %x, %0 : (!t_a_b, !t_a_b) -> !t_a_b
    %2 = mlc.reduce %1 {kind = "max", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    return %2 : !t_a_1
  }
  func.func @after(%x: !t_a_b) -> !t_a_1 {
    %0 = mlc.reduce %x {kind = "max", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    %1 = mlc.fill {dims = #mlc.dims<[a, 1]>, value = #mlc.real<t>, type = f32} : () -> !t_a_1
    %2 = mlc.mul %0, %1 : (!t_a_1, !t_a_1) -> !t_a_1
    return %2 : !t_a_1
  }
}

rule.def @square_of_sum "sum(x)^2 = sum(x^2)"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted", rule.holds = "b == 1"} {
  rule.require b ge 1
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

!t_1_a = tensor<1x?xf32, #mlc.dims<[1, a]>>

rule.def @sum_of_transpose "the sum over rows of x^T is the transposed sum over columns of x"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "proved"} {
  func.func @before(%x: !t_a_b) -> !t_1_a {
    %0 = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t_a_b) -> !t_b_a
    %1 = mlc.reduce %0 {kind = "sum", axes = array<i64: 0>} : (!t_b_a) -> !t_1_a
    return %1 : !t_1_a
  }
  func.func @after(%x: !t_a_b) -> !t_1_a {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_a_b) -> !t_a_1
    %1 = mlc.transpose %0 {permutation = array<i64: 1, 0>} : (!t_a_1) -> !t_1_a
    return %1 : !t_1_a
  }
}

!t_k_1 = tensor<?x1xf32, #mlc.dims<[k, 1]>>

rule.def @sum_as_matmul "a sum along an axis is a product with ones"
    attributes {rule.source = "PET (Wang et al., OSDI 2021)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_k) -> !t_n_1 {
    %0 = mlc.reduce %x {kind = "sum", axes = array<i64: 1>} : (!t_n_k) -> !t_n_1
    return %0 : !t_n_1
  }
  func.func @after(%x: !t_n_k) -> !t_n_1 {
    %0 = mlc.fill {dims = #mlc.dims<[k, 1]>, value = #mlc.real<1.0>, type = f32} : () -> !t_k_1
    %1 = mlc.matmul %x, %0 : (!t_n_k, !t_k_1) -> !t_n_1
    return %1 : !t_n_1
  }
}

rule.def @softmax_of_shifted "softmax(x + c) = softmax(x) for a c of each row"
    attributes {rule.source = "the usual stabilization of softmax", rule.expect = "proved"} {
  rule.require k ge 1
  func.func @before(%x: !t_n_k, %c: !t_n_1) -> !t_n_k {
    %0 = mlc.broadcast %c {dims = #mlc.dims<[n, k]>} : (!t_n_1) -> !t_n_k
    %1 = mlc.add %x, %0 : (!t_n_k, !t_n_k) -> !t_n_k
    %2 = mlc.softmax %1 {axis = 1 : i64} : (!t_n_k) -> !t_n_k
    return %2 : !t_n_k
  }
  func.func @after(%x: !t_n_k, %c: !t_n_1) -> !t_n_k {
    %0 = mlc.softmax %x {axis = 1 : i64} : (!t_n_k) -> !t_n_k
    return %0 : !t_n_k
  }
}

!t_1_k = tensor<1x?xf32, #mlc.dims<[1, k]>>

rule.def @softmax_of_shifted_by_column "softmax(x + c) = softmax(x) for a c of each column"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  rule.require k ge 1
  func.func @before(%x: !t_n_k, %c: !t_1_k) -> !t_n_k {
    %0 = mlc.broadcast %c {dims = #mlc.dims<[n, k]>} : (!t_1_k) -> !t_n_k
    %1 = mlc.add %x, %0 : (!t_n_k, !t_n_k) -> !t_n_k
    %2 = mlc.softmax %1 {axis = 1 : i64} : (!t_n_k) -> !t_n_k
    return %2 : !t_n_k
  }
  func.func @after(%x: !t_n_k, %c: !t_1_k) -> !t_n_k {
    %0 = mlc.softmax %x {axis = 1 : i64} : (!t_n_k) -> !t_n_k
    return %0 : !t_n_k
  }
}

rule.def @softmax_of_scaled "softmax(t x) = softmax(x): a temperature left out"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  rule.require k ge 1
  func.func @before(%x: !t_n_k) -> !t_n_k {
    %0 = mlc.fill {dims = #mlc.dims<[n, k]>, value = #mlc.real<t>, type = f32} : () -> !t_n_k
    %1 = mlc.mul %x, %0 : (!t_n_k, !t_n_k) -> !t_n_k
    %2 = mlc.softmax %1 {axis = 1 : i64} : (!t_n_k) -> !t_n_k
    return %2 : !t_n_k
  }
  func.func @after(%x: !t_n_k) -> !t_n_k {
    %0 = mlc.softmax %x {axis = 1 : i64} : (!t_n_k) -> !t_n_k
    return %0 : !t_n_k
  }
}

rule.def @softmax_along_another_axis "softmax along columns is softmax along rows"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted", rule.holds = "n == 1"} {
  func.func @before(%x: !t_n_n) -> !t_n_n {
    %0 = mlc.softmax %x {axis = 0 : i64} : (!t_n_n) -> !t_n_n
    return %0 : !t_n_n
  }
  func.func @after(%x: !t_n_n) -> !t_n_n {
    %0 = mlc.softmax %x {axis = 1 : i64} : (!t_n_n) -> !t_n_n
    return %0 : !t_n_n
  }
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

!t_n_c_h = tensor<?x?x?xf32, #mlc.dims<[n, c, h]>>
!t_o_c_k = tensor<?x?x?xf32, #mlc.dims<[o, c, k]>>
!t1 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + p + q + d - d * k - 1, s) + 1]>>

rule.def @sum_of_convs "conv(x, v) + conv(x, w) = conv(x, v + w)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require d ge 1
  func.func @before(%x: !t_n_c_h, %v: !t_o_c_k, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    %1 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    %2 = mlc.add %0, %1 : (!t1, !t1) -> !t1
    return %2 : !t1
  }
  func.func @after(%x: !t_n_c_h, %v: !t_o_c_k, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.add %v, %w : (!t_o_c_k, !t_o_c_k) -> !t_o_c_k
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    return %1 : !t1
  }
}

rule.def @conv_of_sum "conv(x, w) + conv(y, w) = conv(x + y, w)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require d ge 1
  func.func @before(%x: !t_n_c_h, %y: !t_n_c_h, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    %1 = mlc.conv %y, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    %2 = mlc.add %0, %1 : (!t1, !t1) -> !t1
    return %2 : !t1
  }
  func.func @after(%x: !t_n_c_h, %y: !t_n_c_h, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.add %x, %y : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    return %1 : !t1
  }
}

rule.def @scale_leaves_conv "conv(t x, w) = conv(x, t w)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require d ge 1
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.fill {dims = #mlc.dims<[n, c, h]>, value = #mlc.real<t>, type = f32} : () -> !t_n_c_h
    %1 = mlc.mul %x, %0 : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    %2 = mlc.conv %1, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    return %2 : !t1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.fill {dims = #mlc.dims<[o, c, k]>, value = #mlc.real<t>, type = f32} : () -> !t_o_c_k
    %1 = mlc.mul %w, %0 : (!t_o_c_k, !t_o_c_k) -> !t_o_c_k
    %2 = mlc.conv %x, %1 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    return %2 : !t1
  }
}

!t_n_c_h_i = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, i]>>
!t_o_c_k_l = tensor<?x?x?x?xf32, #mlc.dims<[o, c, k, l]>>
!t2 = tensor<?x?x?x?xf32, #mlc.dims<[n, o, floordiv(h + 2 * p - k, s) + 1, floordiv(i + 2 * q - l, t) + 1]>>
!t_m_c_k_l = tensor<?x?x?x?xf32, #mlc.dims<[m, c, k, l]>>
!t3 = tensor<?x?x?x?xf32, #mlc.dims<[n, m, floordiv(h + 2 * p - k, s) + 1, floordiv(i + 2 * q - l, t) + 1]>>
!t4 = tensor<?x?x?x?xf32, #mlc.dims<[n, o + m, floordiv(h + 2 * p - k, s) + 1, floordiv(i + 2 * q - l, t) + 1]>>
!t_opm_c_k_l = tensor<?x?x?x?xf32, #mlc.dims<[o + m, c, k, l]>>

rule.def @merge_convs "two convolutions of one input are one with their weights put together"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require t ge 1
  func.func @before(%x: !t_n_c_h_i, %v: !t_o_c_k_l, %w: !t_m_c_k_l) -> !t4 {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[s, t]>, pads = #mlc.dims<[p, q, p, q]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!t_n_c_h_i, !t_o_c_k_l) -> !t2
    %1 = mlc.conv %x, %w {strides = #mlc.dims<[s, t]>, pads = #mlc.dims<[p, q, p, q]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!t_n_c_h_i, !t_m_c_k_l) -> !t3
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t2, !t3) -> !t4
    return %2 : !t4
  }
  func.func @after(%x: !t_n_c_h_i, %v: !t_o_c_k_l, %w: !t_m_c_k_l) -> !t4 {
    %0 = mlc.concat %v, %w {axis = 0 : i64} : (!t_o_c_k_l, !t_m_c_k_l) -> !t_opm_c_k_l
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s, t]>, pads = #mlc.dims<[p, q, p, q]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!t_n_c_h_i, !t_opm_c_k_l) -> !t4
    return %1 : !t4
  }
}

!t_n_cg_h = tensor<?x?x?xf32, #mlc.dims<[n, c * g, h]>>
!t_go_c_k = tensor<?x?x?xf32, #mlc.dims<[g * o, c, k]>>
!t_n_go_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, g * o, h + 2 * p - k + 1]>>
!t_gm_c_k = tensor<?x?x?xf32, #mlc.dims<[g * m, c, k]>>
!t_n_gm_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, g * m, h + 2 * p - k + 1]>>
!t_n_gopgm_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, g * o + g * m, h + 2 * p - k + 1]>>
!t_gopgm_c_k = tensor<?x?x?xf32, #mlc.dims<[g * o + g * m, c, k]>>

// The published rule checks kernel, stride, padding and activation, not groups.
rule.def @merge_grouped_convs "the same for convolutions with groups"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "g == 1"} {
  rule.require g ge 1
  rule.require c ge 1
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

!t_n_a_h = tensor<?x?x?xf32, #mlc.dims<[n, a, h]>>
!t_o_a_k = tensor<?x?x?xf32, #mlc.dims<[o, a, k]>>
!t5 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + p + q - k, s) + 1]>>
!t_n_b_h = tensor<?x?x?xf32, #mlc.dims<[n, b, h]>>
!t_o_b_k = tensor<?x?x?xf32, #mlc.dims<[o, b, k]>>
!t_n_apb_h = tensor<?x?x?xf32, #mlc.dims<[n, a + b, h]>>
!t_o_apb_k = tensor<?x?x?xf32, #mlc.dims<[o, a + b, k]>>

rule.def @merge_convs_of_two_inputs "conv(x, v) + conv(y, w) is one convolution over the channels of both"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  func.func @before(%x: !t_n_a_h, %y: !t_n_b_h, %v: !t_o_a_k, %w: !t_o_b_k) -> !t5 {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_a_h, !t_o_a_k) -> !t5
    %1 = mlc.conv %y, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_b_h, !t_o_b_k) -> !t5
    %2 = mlc.add %0, %1 : (!t5, !t5) -> !t5
    return %2 : !t5
  }
  func.func @after(%x: !t_n_a_h, %y: !t_n_b_h, %v: !t_o_a_k, %w: !t_o_b_k) -> !t5 {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_a_h, !t_n_b_h) -> !t_n_apb_h
    %1 = mlc.concat %v, %w {axis = 1 : i64} : (!t_o_a_k, !t_o_b_k) -> !t_o_apb_k
    %2 = mlc.conv %0, %1 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_apb_h, !t_o_apb_k) -> !t5
    return %2 : !t5
  }
}

!t_n_o_h = tensor<?x?x?xf32, #mlc.dims<[n, o, h]>>

// All three have as many outputs as inputs (causal padding).
rule.def @merge_convs_with_other_dilations "conv(x, v) + conv(x, w) = conv(x, v + w) without a look at the dilations"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "d == e"} {
  rule.require d ge 1
  rule.require e ge 1
  rule.require k ge 1
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
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "p == q"} {
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

!t_o_c_kp2e = tensor<?x?x?xf32, #mlc.dims<[o, c, k + 2 * e]>>

rule.def @enlarge_kernel "a kernel grows by a border of zeros when the padding grows with it"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require d ge 1
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t1
    return %0 : !t1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t1 {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, e]>, high = #mlc.dims<[0, 0, e]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_k) -> !t_o_c_kp2e
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p + d * e, q + d * e]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_kp2e) -> !t1
    return %1 : !t1
  }
}

!t_o_c_1 = tensor<?x?x1xf32, #mlc.dims<[o, c, 1]>>
!t6 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s - h + 1, 0) - 1, s) + 1]>>
!t_o_c_3 = tensor<?x?x3xf32, #mlc.dims<[o, c, 3]>>
!t7 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s - h + 3, 0) - 3, s) + 1]>>

// At stride 2 and even sizes the windows of the 1 wide kernel start at 0, those of
// the 3 wide one at 0 too and not at -1.
rule.def @enlarge_same_upper "a 1 wide kernel may become 3 wide: both are padded for ceil(h / s) outputs (SAME_UPPER)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "s divides h - 1"} {
  rule.require s ge 1
  rule.require h ge 1
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_1) -> !t6 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s - h + 1, 0), 2), max(floordiv(h - 1, s) * s - h + 1, 0) - floordiv(max(floordiv(h - 1, s) * s - h + 1, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_1) -> !t6
    return %0 : !t6
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_1) -> !t7 {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_1) -> !t_o_c_3
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s - h + 3, 0), 2), max(floordiv(h - 1, s) * s - h + 3, 0) - floordiv(max(floordiv(h - 1, s) * s - h + 3, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_3) -> !t7
    return %1 : !t7
  }
}

!t8 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s + k - h, 0) - k, s) + 1]>>
!t_o_c_kp2 = tensor<?x?x?xf32, #mlc.dims<[o, c, k + 2]>>
!t9 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + max(floordiv(h - 1, s) * s + k - h + 2, 0) - k - 2, s) + 1]>>

// Exactly when the total padding of the k wide kernel is not negative before it is
// clipped to 0.
rule.def @enlarge_any_same_upper "the same from k to k + 2"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "mod(h - 1, s) < k"} {
  rule.require s ge 1
  rule.require h ge 1
  rule.require k ge 1
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t8 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s + k - h, 0), 2), max(floordiv(h - 1, s) * s + k - h, 0) - floordiv(max(floordiv(h - 1, s) * s + k - h, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t8
    return %0 : !t8
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t9 {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_k) -> !t_o_c_kp2
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[floordiv(max(floordiv(h - 1, s) * s + k - h + 2, 0), 2), max(floordiv(h - 1, s) * s + k - h + 2, 0) - floordiv(max(floordiv(h - 1, s) * s + k - h + 2, 0), 2)]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_kp2) -> !t9
    return %1 : !t9
  }
}

!t_n_o_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + 2 * p - k + 1]>>

rule.def @enlarge_without_padding "a kernel grows by a border of zeros and the output is cut from the front"
    attributes {rule.source = "MetaFlow (Jia et al., SysML 2019)", rule.expect = "refuted"} {
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    return %0 : !t_n_o_hp2pmkp1
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t_n_o_hp2pmkp1 {
    %0 = mlc.pad %w {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_k) -> !t_o_c_kp2
    %1 = mlc.conv %x, %0 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p + 2]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_kp2) -> !t_n_o_hp2pmkp1
    return %1 : !t_n_o_hp2pmkp1
  }
}

!t_m_c_3 = tensor<?x?x3xf32, #mlc.dims<[m, c, 3]>>
!t_n_m_h = tensor<?x?x?xf32, #mlc.dims<[n, m, h]>>
!t_n_opm_h = tensor<?x?x?xf32, #mlc.dims<[n, o + m, h]>>
!t_opm_c_3 = tensor<?x?x3xf32, #mlc.dims<[o + m, c, 3]>>

rule.def @enlarge_and_merge "1 and 3 wide convolutions of one input are one 3 wide convolution (the two branches of a block)"
    attributes {rule.source = "MetaFlow (Jia et al., SysML 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_c_h, %v: !t_o_c_1, %w: !t_m_c_3) -> !t_n_opm_h {
    %0 = mlc.conv %x, %v {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_1) -> !t_n_o_h
    %1 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_m_c_3) -> !t_n_m_h
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_n_o_h, !t_n_m_h) -> !t_n_opm_h
    return %2 : !t_n_opm_h
  }
  func.func @after(%x: !t_n_c_h, %v: !t_o_c_1, %w: !t_m_c_3) -> !t_n_opm_h {
    %0 = mlc.pad %v {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_1) -> !t_o_c_3
    %1 = mlc.concat %0, %w {axis = 0 : i64} : (!t_o_c_3, !t_m_c_3) -> !t_opm_c_3
    %2 = mlc.conv %x, %1 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_opm_c_3) -> !t_n_opm_h
    return %2 : !t_n_opm_h
  }
}

!t_n_2c_h = tensor<?x?x?xf32, #mlc.dims<[n, 2 * c, h]>>
!t_2o_c_k = tensor<?x?x?xf32, #mlc.dims<[2 * o, c, k]>>
!t_n_2o_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, 2 * o, h + 2 * p - k + 1]>>

rule.def @groups_as_convs "two groups are two convolutions of half the channels each"
    attributes {rule.source = "ResNeXt (Xie et al., CVPR 2017)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_2c_h, %w: !t_2o_c_k) -> !t_n_2o_hp2pmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<2>} : (!t_n_2c_h, !t_2o_c_k) -> !t_n_2o_hp2pmkp1
    return %0 : !t_n_2o_hp2pmkp1
  }
  func.func @after(%x: !t_n_2c_h, %w: !t_2o_c_k) -> !t_n_2o_hp2pmkp1 {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_2c_h) -> !t_n_c_h
    %1 = mlc.slice %w {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[o, c, k]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_2o_c_k) -> !t_o_c_k
    %2 = mlc.conv %0, %1 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %3 = mlc.slice %x {starts = #mlc.dims<[0, c, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_2c_h) -> !t_n_c_h
    %4 = mlc.slice %w {starts = #mlc.dims<[o, 0, 0]>, sizes = #mlc.dims<[o, c, k]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_2o_c_k) -> !t_o_c_k
    %5 = mlc.conv %3, %4 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %6 = mlc.concat %2, %5 {axis = 1 : i64} : (!t_n_o_hp2pmkp1, !t_n_o_hp2pmkp1) -> !t_n_2o_hp2pmkp1
    return %6 : !t_n_2o_hp2pmkp1
  }
}

rule.def @groups_as_convs_crossed "the same with the halves of the input exchanged"
    attributes {rule.source = "ResNeXt (Xie et al., CVPR 2017)", rule.expect = "refuted"} {
  func.func @before(%x: !t_n_2c_h, %w: !t_2o_c_k) -> !t_n_2o_hp2pmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<2>} : (!t_n_2c_h, !t_2o_c_k) -> !t_n_2o_hp2pmkp1
    return %0 : !t_n_2o_hp2pmkp1
  }
  func.func @after(%x: !t_n_2c_h, %w: !t_2o_c_k) -> !t_n_2o_hp2pmkp1 {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, c, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_2c_h) -> !t_n_c_h
    %1 = mlc.slice %w {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[o, c, k]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_2o_c_k) -> !t_o_c_k
    %2 = mlc.conv %0, %1 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %3 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_2c_h) -> !t_n_c_h
    %4 = mlc.slice %w {starts = #mlc.dims<[o, 0, 0]>, sizes = #mlc.dims<[o, c, k]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_2o_c_k) -> !t_o_c_k
    %5 = mlc.conv %3, %4 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hp2pmkp1
    %6 = mlc.concat %2, %5 {axis = 1 : i64} : (!t_n_o_hp2pmkp1, !t_n_o_hp2pmkp1) -> !t_n_2o_hp2pmkp1
    return %6 : !t_n_2o_hp2pmkp1
  }
}

!t_o_2c_k = tensor<?x?x?xf32, #mlc.dims<[o, 2 * c, k]>>
!t_2o_2c_k = tensor<?x?x?xf32, #mlc.dims<[2 * o, 2 * c, k]>>

rule.def @groups_as_block_diagonal "two groups are one with zeros between the blocks of the weights"
    attributes {rule.source = "ResNeXt (Xie et al., CVPR 2017)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_2c_h, %w: !t_2o_c_k) -> !t_n_2o_hp2pmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<2>} : (!t_n_2c_h, !t_2o_c_k) -> !t_n_2o_hp2pmkp1
    return %0 : !t_n_2o_hp2pmkp1
  }
  func.func @after(%x: !t_n_2c_h, %w: !t_2o_c_k) -> !t_n_2o_hp2pmkp1 {
    %0 = mlc.slice %w {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[o, c, k]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_2o_c_k) -> !t_o_c_k
    %1 = mlc.pad %0 {low = #mlc.dims<[0, 0, 0]>, high = #mlc.dims<[0, c, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_k) -> !t_o_2c_k
    %2 = mlc.slice %w {starts = #mlc.dims<[o, 0, 0]>, sizes = #mlc.dims<[o, c, k]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_2o_c_k) -> !t_o_c_k
    %3 = mlc.pad %2 {low = #mlc.dims<[0, c, 0]>, high = #mlc.dims<[0, 0, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!t_o_c_k) -> !t_o_2c_k
    %4 = mlc.concat %1, %3 {axis = 0 : i64} : (!t_o_2c_k, !t_o_2c_k) -> !t_2o_2c_k
    %5 = mlc.conv %x, %4 {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_2c_h, !t_2o_2c_k) -> !t_n_2o_hp2pmkp1
    return %5 : !t_n_2o_hp2pmkp1
  }
}

!t_a_c_h = tensor<?x?x?xf32, #mlc.dims<[a, c, h]>>
!t_b_c_h = tensor<?x?x?xf32, #mlc.dims<[b, c, h]>>
!t_apb_c_h = tensor<?x?x?xf32, #mlc.dims<[a + b, c, h]>>
!t10 = tensor<?x?x?xf32, #mlc.dims<[a + b, o, floordiv(h + p + q - k, s) + 1]>>
!t11 = tensor<?x?x?xf32, #mlc.dims<[a, o, floordiv(h + p + q - k, s) + 1]>>
!t12 = tensor<?x?x?xf32, #mlc.dims<[b, o, floordiv(h + p + q - k, s) + 1]>>

rule.def @split_batch "a convolution of a batch is the convolutions of its parts"
    attributes {rule.source = "PET (Wang et al., OSDI 2021)", rule.expect = "proved"} {
  rule.require s ge 1
  func.func @before(%x: !t_a_c_h, %y: !t_b_c_h, %w: !t_o_c_k) -> !t10 {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!t_a_c_h, !t_b_c_h) -> !t_apb_c_h
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_apb_c_h, !t_o_c_k) -> !t10
    return %1 : !t10
  }
  func.func @after(%x: !t_a_c_h, %y: !t_b_c_h, %w: !t_o_c_k) -> !t10 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_a_c_h, !t_o_c_k) -> !t11
    %1 = mlc.conv %y, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_b_c_h, !t_o_c_k) -> !t12
    %2 = mlc.concat %0, %1 {axis = 0 : i64} : (!t11, !t12) -> !t10
    return %2 : !t10
  }
}

!t_n_c_2h = tensor<?x?x?xf32, #mlc.dims<[n, c, 2 * h]>>
!t_o_c_2pp1 = tensor<?x?x?xf32, #mlc.dims<[o, c, 2 * p + 1]>>
!t_n_o_2h = tensor<?x?x?xf32, #mlc.dims<[n, o, 2 * h]>>

// PET repairs what such partly equal rewrites break.
rule.def @split_pixels "a convolution of a row is the convolutions of its two halves, without a look at the border between them"
    attributes {rule.source = "PET (Wang et al., OSDI 2021)", rule.expect = "refuted", rule.holds = "p == 0"} {
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

rule.def @stride_as_slice "a strided convolution is every s-th output of the plain one"
    attributes {rule.source = "PET (Wang et al., OSDI 2021)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require h + p + q ge k
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t5 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t5
    return %0 : !t5
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t5 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hpppqmkp1
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, o, floordiv(h + p + q - k, s) + 1]>, steps = #mlc.dims<[1, 1, s]>} : (!t_n_o_hpppqmkp1) -> !t5
    return %1 : !t5
  }
}

!t_n_c_hpi = tensor<?x?x?xf32, #mlc.dims<[n, c, h + i]>>
!t_n_o_hpip2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + i + 2 * p - k + 1]>>

rule.def @conv_of_slice "the first outputs of a convolution are the convolution of the first inputs"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "refuted", rule.holds = "i == 0 or p == 0"} {
  rule.require h + 2 * p ge k
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

!t_n_o_hpimkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + i - k + 1]>>
!t_n_o_hmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h - k + 1]>>

rule.def @conv_of_slice_without_padding "the same without padding"
    attributes {rule.source = "TensorRight (Arora et al., POPL 2025)", rule.expect = "proved"} {
  rule.require h ge k
  func.func @before(%x: !t_n_c_hpi, %w: !t_o_c_k) -> !t_n_o_hmkp1 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_hpi, !t_o_c_k) -> !t_n_o_hpimkp1
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, o, h - k + 1]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_o_hpimkp1) -> !t_n_o_hmkp1
    return %1 : !t_n_o_hmkp1
  }
  func.func @after(%x: !t_n_c_hpi, %w: !t_o_c_k) -> !t_n_o_hmkp1 {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0]>, sizes = #mlc.dims<[n, c, h]>, steps = #mlc.dims<[1, 1, 1]>} : (!t_n_c_hpi) -> !t_n_c_h
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t_n_o_hmkp1
    return %1 : !t_n_o_hmkp1
  }
}

!t_n_c_hpapb = tensor<?x?x?xf32, #mlc.dims<[n, c, h + a + b]>>
!t13 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + a + b + p + q + d - d * k - 1, s) + 1]>>
!t14 = tensor<?x?x?xf32, #mlc.dims<[n, o, floordiv(h + p + a + q + b + d - d * k - 1, s) + 1]>>

rule.def @absorb_pad "a border of zeros in front of a convolution is part of its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require d ge 1
  func.func @before(%x: !t_n_c_h, %w: !t_o_c_k) -> !t13 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, a]>, high = #mlc.dims<[0, 0, b]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c_h) -> !t_n_c_hpapb
    %1 = mlc.conv %0, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, q]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_hpapb, !t_o_c_k) -> !t13
    return %1 : !t13
  }
  func.func @after(%x: !t_n_c_h, %w: !t_o_c_k) -> !t14 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p + a, q + b]>, dilations = #mlc.dims<[d]>, groups = #mlc.int<1>} : (!t_n_c_h, !t_o_c_k) -> !t14
    return %0 : !t14
  }
}

!t_n_o_hpapbmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, o, h + a + b - k + 1]>>

rule.def @absorb_pad_of_any_value "a border of any value in front of a convolution is part of its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "v == 0 or (a == 0 and b == 0)"} {
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
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "a == 0 or p == 0"} {
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

!t_1_c_h_i = tensor<1x?x?x?xf32, #mlc.dims<[1, c, h, i]>>
!t_o_c_1_1 = tensor<?x?x1x1xf32, #mlc.dims<[o, c, 1, 1]>>
!t_1_o_h_i = tensor<1x?x?x?xf32, #mlc.dims<[1, o, h, i]>>
!t_o_c = tensor<?x?xf32, #mlc.dims<[o, c]>>
!t_c_hi = tensor<?x?xf32, #mlc.dims<[c, h * i]>>
!t_o_hi = tensor<?x?xf32, #mlc.dims<[o, h * i]>>

rule.def @conv_1x1_as_matmul "a 1 by 1 convolution is a product over pixels"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  func.func @before(%x: !t_1_c_h_i, %w: !t_o_c_1_1) -> !t_1_o_h_i {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[0, 0, 0, 0]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!t_1_c_h_i, !t_o_c_1_1) -> !t_1_o_h_i
    return %0 : !t_1_o_h_i
  }
  func.func @after(%x: !t_1_c_h_i, %w: !t_o_c_1_1) -> !t_1_o_h_i {
    %0 = mlc.reshape %w {dims = #mlc.dims<[o, c]>} : (!t_o_c_1_1) -> !t_o_c
    %1 = mlc.reshape %x {dims = #mlc.dims<[c, h * i]>} : (!t_1_c_h_i) -> !t_c_hi
    %2 = mlc.matmul %0, %1 : (!t_o_c, !t_c_hi) -> !t_o_hi
    %3 = mlc.reshape %2 {dims = #mlc.dims<[1, o, h, i]>} : (!t_o_hi) -> !t_1_o_h_i
    return %3 : !t_1_o_h_i
  }
}

!t_1_c_hs = tensor<1x?x?xf32, #mlc.dims<[1, c, h * s]>>
!t15 = tensor<1x?x?xf32, #mlc.dims<[1, o, floordiv(h * s - 1, s) + 1]>>
!t_1_c_h = tensor<1x?x?xf32, #mlc.dims<[1, c, h]>>
!t_c_h = tensor<?x?xf32, #mlc.dims<[c, h]>>
!t_o_h = tensor<?x?xf32, #mlc.dims<[o, h]>>
!t_1_o_h = tensor<1x?x?xf32, #mlc.dims<[1, o, h]>>

rule.def @strided_1x1_as_matmul "the same whatever the stride"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "h == 1 or s == 1"} {
  rule.require s ge 1
  func.func @before(%x: !t_1_c_hs, %w: !t_o_c_1) -> !t15 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<1>} : (!t_1_c_hs, !t_o_c_1) -> !t15
    return %0 : !t15
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

//===----------------------------------------------------------------------===//
// Normalization and pooling
//===----------------------------------------------------------------------===//

!t16 = tensor<?x?x?x?xf32, #mlc.dims<[n, o, h + 2 * p - k + 1, i + 2 * q - l + 1]>>
!t_o = tensor<?xf32, #mlc.dims<[o]>>
!t_o_1_1_1 = tensor<?x1x1x1xf32, #mlc.dims<[o, 1, 1, 1]>>
!t_1_o_1_1 = tensor<1x?x1x1xf32, #mlc.dims<[1, o, 1, 1]>>

rule.def @fold_batch_norm "a batch norm behind a convolution becomes weights and a bias"
    attributes {rule.source = "the usual folding of batch norm (Jacob et al., CVPR 2018)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_c_h_i, %w: !t_o_c_k_l, %scale: !t_o, %bias: !t_o, %mean: !t_o, %variance: !t_o) -> !t16 {
    %0 = mlc.conv %x, %w {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[p, q, p, q]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!t_n_c_h_i, !t_o_c_k_l) -> !t16
    %1 = mlc.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = #mlc.real<eps>} : (!t16, !t_o, !t_o, !t_o, !t_o) -> !t16
    return %1 : !t16
  }
  func.func @after(%x: !t_n_c_h_i, %w: !t_o_c_k_l, %scale: !t_o, %bias: !t_o, %mean: !t_o, %variance: !t_o) -> !t16 {
    %0 = mlc.fill {dims = #mlc.dims<[o]>, value = #mlc.real<eps>, type = f32} : () -> !t_o
    %1 = mlc.add %variance, %0 : (!t_o, !t_o) -> !t_o
    %2 = mlc.sqrt %1 : (!t_o) -> !t_o
    %3 = mlc.div %scale, %2 : (!t_o, !t_o) -> !t_o
    %4 = mlc.mul %mean, %3 : (!t_o, !t_o) -> !t_o
    %5 = mlc.sub %bias, %4 : (!t_o, !t_o) -> !t_o
    %6 = mlc.reshape %3 {dims = #mlc.dims<[o, 1, 1, 1]>} : (!t_o) -> !t_o_1_1_1
    %7 = mlc.broadcast %6 {dims = #mlc.dims<[o, c, k, l]>} : (!t_o_1_1_1) -> !t_o_c_k_l
    %8 = mlc.mul %w, %7 : (!t_o_c_k_l, !t_o_c_k_l) -> !t_o_c_k_l
    %9 = mlc.conv %x, %8 {strides = #mlc.dims<[1, 1]>, pads = #mlc.dims<[p, q, p, q]>, dilations = #mlc.dims<[1, 1]>, groups = #mlc.int<1>} : (!t_n_c_h_i, !t_o_c_k_l) -> !t16
    %10 = mlc.reshape %5 {dims = #mlc.dims<[1, o, 1, 1]>} : (!t_o) -> !t_1_o_1_1
    %11 = mlc.broadcast %10 {dims = #mlc.dims<[n, o, h + 2 * p - k + 1, i + 2 * q - l + 1]>} : (!t_1_o_1_1) -> !t16
    %12 = mlc.add %9, %11 : (!t16, !t16) -> !t16
    return %12 : !t16
  }
}

!t_o_1_1 = tensor<?x1x1xf32, #mlc.dims<[o, 1, 1]>>
!t_1_o_1 = tensor<1x?x1xf32, #mlc.dims<[1, o, 1]>>

rule.def @fold_batch_norm_without_epsilon "the same with the epsilon forgotten"
    attributes {rule.source = "the usual folding of batch norm (Jacob et al., CVPR 2018)", rule.expect = "refuted", rule.holds = "eps == 0"} {
  rule.assume_real eps ge 0.0
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

// The shift is not there in the padding.
rule.def @shift_through_conv "a shift of each channel in front of a convolution becomes a bias (a batch norm in front)"
    attributes {rule.source = "the usual folding of batch norm (Jacob et al., CVPR 2018)", rule.expect = "refuted", rule.holds = "p == 0"} {
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

rule.def @batch_norm_as_scale_and_shift "a batch norm is a scale and a shift"
    attributes {rule.source = "the usual folding of batch norm (Jacob et al., CVPR 2018)", rule.expect = "proved"} {
  func.func @before(%x: !t_n_c_h, %scale: !t_c, %bias: !t_c, %mean: !t_c, %variance: !t_c) -> !t_n_c_h {
    %0 = mlc.batch_norm %x, %scale, %bias, %mean, %variance {epsilon = #mlc.real<eps>} : (!t_n_c_h, !t_c, !t_c, !t_c, !t_c) -> !t_n_c_h
    return %0 : !t_n_c_h
  }
  func.func @after(%x: !t_n_c_h, %scale: !t_c, %bias: !t_c, %mean: !t_c, %variance: !t_c) -> !t_n_c_h {
    %0 = mlc.fill {dims = #mlc.dims<[c]>, value = #mlc.real<eps>, type = f32} : () -> !t_c
    %1 = mlc.add %variance, %0 : (!t_c, !t_c) -> !t_c
    %2 = mlc.sqrt %1 : (!t_c) -> !t_c
    %3 = mlc.div %scale, %2 : (!t_c, !t_c) -> !t_c
    %4 = mlc.reshape %3 {dims = #mlc.dims<[1, c, 1]>} : (!t_c) -> !t_1_c_1
    %5 = mlc.broadcast %4 {dims = #mlc.dims<[n, c, h]>} : (!t_1_c_1) -> !t_n_c_h
    %6 = mlc.mul %x, %5 : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    %7 = mlc.mul %mean, %3 : (!t_c, !t_c) -> !t_c
    %8 = mlc.sub %bias, %7 : (!t_c, !t_c) -> !t_c
    %9 = mlc.reshape %8 {dims = #mlc.dims<[1, c, 1]>} : (!t_c) -> !t_1_c_1
    %10 = mlc.broadcast %9 {dims = #mlc.dims<[n, c, h]>} : (!t_1_c_1) -> !t_n_c_h
    %11 = mlc.add %6, %10 : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    return %11 : !t_n_c_h
  }
}

!t17 = tensor<?x?x?xf32, #mlc.dims<[n, c, floordiv(h + 2 * p - k, s) + 1]>>
!t_c_1_k = tensor<?x1x?xf32, #mlc.dims<[c, 1, k]>>
!t_k = tensor<?xf32, #mlc.dims<[k]>>

rule.def @avg_pool_as_conv "an average pool that counts its padding is a depthwise convolution with 1 / k"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  rule.require c ge 1
  func.func @before(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t17
    return %0 : !t17
  }
  func.func @after(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.fill {dims = #mlc.dims<[c, 1, k]>, value = #mlc.real<1.0>, type = f32} : () -> !t_c_1_k
    %1 = mlc.fill {dims = #mlc.dims<[k]>, value = #mlc.real<1.0>, type = f32} : () -> !t_k
    %2 = mlc.reduce %1 {kind = "sum", axes = array<i64: 0>} : (!t_k) -> tensor<1xf32>
    %3 = mlc.reshape %2 {dims = #mlc.dims<[1, 1, 1]>} : (tensor<1xf32>) -> tensor<1x1x1xf32>
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[c, 1, k]>} : (tensor<1x1x1xf32>) -> !t_c_1_k
    %5 = mlc.div %0, %4 : (!t_c_1_k, !t_c_1_k) -> !t_c_1_k
    %6 = mlc.conv %x, %5 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<c>} : (!t_n_c_h, !t_c_1_k) -> !t17
    return %6 : !t17
  }
}

// The published rule does not look at count_include_pad.
rule.def @avg_pool_without_padding_as_conv "the same for one that does not count its padding"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "p == 0"} {
  rule.require s ge 1
  rule.require k ge 1
  rule.require c ge 1
  func.func @before(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!t_n_c_h) -> !t17
    return %0 : !t17
  }
  func.func @after(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.fill {dims = #mlc.dims<[c, 1, k]>, value = #mlc.real<1.0>, type = f32} : () -> !t_c_1_k
    %1 = mlc.fill {dims = #mlc.dims<[k]>, value = #mlc.real<1.0>, type = f32} : () -> !t_k
    %2 = mlc.reduce %1 {kind = "sum", axes = array<i64: 0>} : (!t_k) -> tensor<1xf32>
    %3 = mlc.reshape %2 {dims = #mlc.dims<[1, 1, 1]>} : (tensor<1xf32>) -> tensor<1x1x1xf32>
    %4 = mlc.broadcast %3 {dims = #mlc.dims<[c, 1, k]>} : (tensor<1x1x1xf32>) -> !t_c_1_k
    %5 = mlc.div %0, %4 : (!t_c_1_k, !t_c_1_k) -> !t_c_1_k
    %6 = mlc.conv %x, %5 {strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, groups = #mlc.int<c>} : (!t_n_c_h, !t_c_1_k) -> !t17
    return %6 : !t17
  }
}

!t_n_c_floordivhmksp1 = tensor<?x?x?xf32, #mlc.dims<[n, c, floordiv(h - k, s) + 1]>>

rule.def @avg_pool_of_relu "relu(avg_pool(x)) = avg_pool(relu(x))"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted", rule.holds = "k == 1"} {
  rule.require s ge 1
  rule.require k ge 1
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

rule.def @max_pool_of_relu "relu(max_pool(x)) = max_pool(relu(x))"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  func.func @before(%x: !t_n_c_h) -> !t_n_c_floordivhmksp1 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_floordivhmksp1
    %1 = mlc.relu %0 : (!t_n_c_floordivhmksp1) -> !t_n_c_floordivhmksp1
    return %1 : !t_n_c_floordivhmksp1
  }
  func.func @after(%x: !t_n_c_h) -> !t_n_c_floordivhmksp1 {
    %0 = mlc.relu %x : (!t_n_c_h) -> !t_n_c_h
    %1 = mlc.max_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_floordivhmksp1
    return %1 : !t_n_c_floordivhmksp1
  }
}

!t_n_c_hmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, c, h - k + 1]>>
!t_n_c_hmkmlp2 = tensor<?x?x?xf32, #mlc.dims<[n, c, h - k - l + 2]>>

rule.def @max_pools_compose "two max pools with stride 1 are one"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.require k ge 1
  rule.require l ge 1
  func.func @before(%x: !t_n_c_h) -> !t_n_c_hmkmlp2 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hmkp1
    %1 = mlc.max_pool %0 {kernel = #mlc.dims<[l]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_hmkp1) -> !t_n_c_hmkmlp2
    return %1 : !t_n_c_hmkmlp2
  }
  func.func @after(%x: !t_n_c_h) -> !t_n_c_hmkmlp2 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k + l - 1]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hmkmlp2
    return %0 : !t_n_c_hmkmlp2
  }
}

!t_n_c_hmkmlp1 = tensor<?x?x?xf32, #mlc.dims<[n, c, h - k - l + 1]>>

rule.def @max_pools_compose_wrongly "two max pools with strides are one whose stride is their sum"
    attributes {rule.source = "a slip of the pen", rule.expect = "refuted"} {
  rule.require k ge 1
  rule.require l ge 1
  func.func @before(%x: !t_n_c_h) -> !t_n_c_hmkmlp2 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hmkp1
    %1 = mlc.max_pool %0 {kernel = #mlc.dims<[l]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_hmkp1) -> !t_n_c_hmkmlp2
    return %1 : !t_n_c_hmkmlp2
  }
  func.func @after(%x: !t_n_c_h) -> !t_n_c_hmkmlp1 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k + l]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hmkmlp1
    return %0 : !t_n_c_hmkmlp1
  }
}

!t_n_c_hp2p = tensor<?x?x?xf32, #mlc.dims<[n, c, h + 2 * p]>>
!t_n_c_hp2pmkp1 = tensor<?x?x?xf32, #mlc.dims<[n, c, h + 2 * p - k + 1]>>

// The padding of a max pool is below every number.
rule.def @pad_in_front_of_max_pool "a border of zeros in front of a max pool is part of its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "p == 0"} {
  rule.require k ge 1
  rule.require p lt k
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

rule.def @pad_in_front_of_avg_pool "a border of zeros in front of an average pool is part of its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  func.func @before(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, p]>, high = #mlc.dims<[0, 0, p]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c_h) -> !t_n_c_hp2p
    %1 = mlc.avg_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_hp2p) -> !t17
    return %1 : !t17
  }
  func.func @after(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t17
    return %0 : !t17
  }
}

rule.def @pad_in_front_of_other_avg_pool "the same for one that does not count its padding"
    attributes {rule.source = "XLA's algebraic simplifier", rule.expect = "refuted", rule.holds = "p == 0"} {
  rule.require s ge 1
  rule.require k ge 1
  rule.require p lt k
  func.func @before(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, p]>, high = #mlc.dims<[0, 0, p]>, mode = "constant", value = #mlc.real<0.0>} : (!t_n_c_h) -> !t_n_c_hp2p
    %1 = mlc.avg_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_hp2p) -> !t17
    return %1 : !t17
  }
  func.func @after(%x: !t_n_c_h) -> !t17 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!t_n_c_h) -> !t17
    return %0 : !t17
  }
}

rule.def @scale_leaves_max_pool "max_pool(t x) = t max_pool(x)"
    attributes {rule.source = "TENSAT (Yang et al., MLSys 2021)", rule.expect = "refuted"} {
  rule.require k ge 1
  func.func @before(%x: !t_n_c_h) -> !t_n_c_hmkp1 {
    %0 = mlc.fill {dims = #mlc.dims<[n, c, h]>, value = #mlc.real<t>, type = f32} : () -> !t_n_c_h
    %1 = mlc.mul %x, %0 : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    %2 = mlc.max_pool %1 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hmkp1
    return %2 : !t_n_c_hmkp1
  }
  func.func @after(%x: !t_n_c_h) -> !t_n_c_hmkp1 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_c_h) -> !t_n_c_hmkp1
    %1 = mlc.fill {dims = #mlc.dims<[n, c, h - k + 1]>, value = #mlc.real<t>, type = f32} : () -> !t_n_c_hmkp1
    %2 = mlc.mul %0, %1 : (!t_n_c_hmkp1, !t_n_c_hmkp1) -> !t_n_c_hmkp1
    return %2 : !t_n_c_hmkp1
  }
}

rule.def @avg_pools_of_sum "avg_pool(x) + avg_pool(y) = avg_pool(x + y)"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  func.func @before(%x: !t_n_c_h, %y: !t_n_c_h) -> !t17 {
    %0 = mlc.avg_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t17
    %1 = mlc.avg_pool %y {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t17
    %2 = mlc.add %0, %1 : (!t17, !t17) -> !t17
    return %2 : !t17
  }
  func.func @after(%x: !t_n_c_h, %y: !t_n_c_h) -> !t17 {
    %0 = mlc.add %x, %y : (!t_n_c_h, !t_n_c_h) -> !t_n_c_h
    %1 = mlc.avg_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[p, p]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!t_n_c_h) -> !t17
    return %1 : !t17
  }
}

!t18 = tensor<?x?x?xf32, #mlc.dims<[n, a + b, floordiv(h - k, s) + 1]>>
!t_n_a_floordivhmksp1 = tensor<?x?x?xf32, #mlc.dims<[n, a, floordiv(h - k, s) + 1]>>
!t_n_b_floordivhmksp1 = tensor<?x?x?xf32, #mlc.dims<[n, b, floordiv(h - k, s) + 1]>>

rule.def @pools_of_concat "max_pool(x beside y) = max_pool(x) beside max_pool(y), along the channels"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "proved"} {
  rule.require s ge 1
  rule.require k ge 1
  func.func @before(%x: !t_n_a_h, %y: !t_n_b_h) -> !t18 {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!t_n_a_h, !t_n_b_h) -> !t_n_apb_h
    %1 = mlc.max_pool %0 {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_apb_h) -> !t18
    return %1 : !t18
  }
  func.func @after(%x: !t_n_a_h, %y: !t_n_b_h) -> !t18 {
    %0 = mlc.max_pool %x {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_a_h) -> !t_n_a_floordivhmksp1
    %1 = mlc.max_pool %y {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[s]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!t_n_b_h) -> !t_n_b_floordivhmksp1
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!t_n_a_floordivhmksp1, !t_n_b_floordivhmksp1) -> !t18
    return %2 : !t18
  }
}

!t_n_c_i = tensor<?x?x?xf32, #mlc.dims<[n, c, i]>>

rule.def @pools_of_concat_along_pixels "the same along the pixels"
    attributes {rule.source = "TASO (Jia et al., SOSP 2019)", rule.expect = "refuted", rule.holds = "k == 1"} {
  rule.require k ge 1
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
