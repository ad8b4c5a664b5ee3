// Softmax, logistic function and what is made of them.

!m = tensor<?x?xf32, #mlc.dims<[n, m]>>
!r = tensor<?x1xf32, #mlc.dims<[n, 1]>>

//--- softmax_sums_to_one: sum_j softmax(x)_j = 1
func.func @before(%x: !m) -> !r attributes {mlc.assume = ["m >= 1"]} {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  %t = mlc.reduce %s {kind = "sum", axes = array<i64: 1>} : (!m) -> !r
  return %t : !r
}
func.func @after(%x: !m) -> !r {
  %t = mlc.fill {dims = #mlc.dims<[n, 1]>, value = #mlc.real<1.0>, type = f32} : () -> !r
  return %t : !r
}

//--- logarithm_of_softmax: log(softmax(x)) = log_softmax(x)
func.func @before(%x: !m) -> !m attributes {mlc.assume = ["m >= 1"]} {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  %t = mlc.log %s : (!m) -> !m
  return %t : !m
}
func.func @after(%x: !m) -> !m {
  %t = mlc.log_softmax %x {axis = 1 : i64} : (!m) -> !m
  return %t : !m
}

//--- softmax_of_shifted_rows: softmax(x + y) = softmax(x), y being one number for a row
func.func @before(%x: !m, %y: !r) -> !m attributes {mlc.assume = ["m >= 1"]} {
  %b = mlc.broadcast %y {dims = #mlc.dims<[n, m]>} : (!r) -> !m
  %a = mlc.add %x, %b : (!m, !m) -> !m
  %s = mlc.softmax %a {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m, %y: !r) -> !m {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}

//--- softmax_without_maximum: softmax(x)_i = exp(x_i) / sum_j exp(x_j)
func.func @before(%x: !m) -> !m attributes {mlc.assume = ["m >= 1"]} {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m) -> !m {
  %e = mlc.exp %x : (!m) -> !m
  %s = mlc.reduce %e {kind = "sum", axes = array<i64: 1>} : (!m) -> !r
  %y = mlc.broadcast %s {dims = #mlc.dims<[n, m]>} : (!r) -> !m
  %q = mlc.div %e, %y : (!m, !m) -> !m
  return %q : !m
}

//--- logistic_of_negative: sigmoid(-x) = 1 - sigmoid(x)
func.func @before(%x: !m) -> !m {
  %a = mlc.neg %x : (!m) -> !m
  %s = mlc.sigmoid %a : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m) -> !m {
  %o = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<1.0>, type = f32} : () -> !m
  %s = mlc.sigmoid %x : (!m) -> !m
  %d = mlc.sub %o, %s : (!m, !m) -> !m
  return %d : !m
}

//--- tanh_by_the_logistic: tanh(x) = 2 sigmoid(2 x) - 1
func.func @before(%x: !m) -> !m {
  %t = mlc.tanh %x : (!m) -> !m
  return %t : !m
}
func.func @after(%x: !m) -> !m {
  %two = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<2.0>, type = f32} : () -> !m
  %o = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<1.0>, type = f32} : () -> !m
  %a = mlc.mul %two, %x : (!m, !m) -> !m
  %s = mlc.sigmoid %a : (!m) -> !m
  %b = mlc.mul %two, %s : (!m, !m) -> !m
  %d = mlc.sub %b, %o : (!m, !m) -> !m
  return %d : !m
}

//--- softplus_less_its_mirror: log(1 + exp(x)) - log(1 + exp(-x)) = x
func.func @before(%x: !m) -> !m {
  %o = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<1.0>, type = f32} : () -> !m
  %a = mlc.neg %x : (!m) -> !m
  %eu = mlc.exp %x : (!m) -> !m
  %pu = mlc.add %o, %eu : (!m, !m) -> !m
  %u = mlc.log %pu : (!m) -> !m
  %ev = mlc.exp %a : (!m) -> !m
  %pv = mlc.add %o, %ev : (!m, !m) -> !m
  %v = mlc.log %pv : (!m) -> !m
  %d = mlc.sub %u, %v : (!m, !m) -> !m
  return %d : !m
}
func.func @after(%x: !m) -> !m {
  return %x : !m
}

//--- silu_less_its_mirror: x sigmoid(x) - (-x) sigmoid(-x) = x
func.func @before(%x: !m) -> !m {
  %a = mlc.neg %x : (!m) -> !m
  %s = mlc.sigmoid %x : (!m) -> !m
  %t = mlc.sigmoid %a : (!m) -> !m
  %u = mlc.mul %x, %s : (!m, !m) -> !m
  %v = mlc.mul %a, %t : (!m, !m) -> !m
  %d = mlc.sub %u, %v : (!m, !m) -> !m
  return %d : !m
}
func.func @after(%x: !m) -> !m {
  return %x : !m
}

//--- shifted_logarithm_of_sum: log sum_j exp(x_j + y) = y + log sum_j exp(x_j)
func.func @before(%x: !m, %y: !r) -> !r attributes {mlc.assume = ["m >= 1"]} {
  %b = mlc.broadcast %y {dims = #mlc.dims<[n, m]>} : (!r) -> !m
  %a = mlc.add %x, %b : (!m, !m) -> !m
  %e = mlc.exp %a : (!m) -> !m
  %s = mlc.reduce %e {kind = "sum", axes = array<i64: 1>} : (!m) -> !r
  %l = mlc.log %s : (!r) -> !r
  return %l : !r
}
func.func @after(%x: !m, %y: !r) -> !r {
  %e = mlc.exp %x : (!m) -> !m
  %s = mlc.reduce %e {kind = "sum", axes = array<i64: 1>} : (!m) -> !r
  %l = mlc.log %s : (!r) -> !r
  %t = mlc.add %y, %l : (!r, !r) -> !r
  return %t : !r
}

//--- logistic_as_quotient: sigmoid(x) = exp(x) / (1 + exp(x))
func.func @before(%x: !m) -> !m {
  %s = mlc.sigmoid %x : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m) -> !m {
  %o = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<1.0>, type = f32} : () -> !m
  %e = mlc.exp %x : (!m) -> !m
  %p = mlc.add %o, %e : (!m, !m) -> !m
  %q = mlc.div %e, %p : (!m, !m) -> !m
  return %q : !m
}

//--- exponential_of_log_softmax: exp(log_softmax(x)) = softmax(x)
func.func @before(%x: !m) -> !m attributes {mlc.assume = ["m >= 1"]} {
  %l = mlc.log_softmax %x {axis = 1 : i64} : (!m) -> !m
  %e = mlc.exp %l : (!m) -> !m
  return %e : !m
}
func.func @after(%x: !m) -> !m {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}

//--- logarithm_of_logistic: log(sigmoid(x)) = -log(1 + exp(-x))
func.func @before(%x: !m) -> !m {
  %s = mlc.sigmoid %x : (!m) -> !m
  %l = mlc.log %s : (!m) -> !m
  return %l : !m
}
func.func @after(%x: !m) -> !m {
  %o = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<1.0>, type = f32} : () -> !m
  %a = mlc.neg %x : (!m) -> !m
  %ev = mlc.exp %a : (!m) -> !m
  %pv = mlc.add %o, %ev : (!m, !m) -> !m
  %v = mlc.log %pv : (!m) -> !m
  %t = mlc.neg %v : (!m) -> !m
  return %t : !m
}
