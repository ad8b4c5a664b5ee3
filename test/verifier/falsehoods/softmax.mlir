// Softmax, logistic function and what is made of them: none of these holds.

!m = tensor<?x?xf32, #mlc.dims<[n, m]>>
!r = tensor<?x1xf32, #mlc.dims<[n, 1]>>

//--- softmax_sums_to_its_size: it sums to 1
func.func @before(%x: !m) -> !r attributes {mlc.assume = ["m >= 1"]} {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  %t = mlc.reduce %s {kind = "sum", axes = array<i64: 1>} : (!m) -> !r
  return %t : !r
}
func.func @after(%x: !m) -> !r {
  %t = mlc.compute %x {definition = "(x; m) Y[i, j] = f32(m)", dims = #mlc.dims<[n, 1]>, integers = #mlc.dims<[m]>, reals = [], type = f32} : (!m) -> !r
  return %t : !r
}

//--- softmax_of_double: a scale is no shift
func.func @before(%x: !m) -> !m attributes {mlc.assume = ["m >= 1"]} {
  %a = mlc.add %x, %x : (!m, !m) -> !m
  %s = mlc.softmax %a {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m) -> !m {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}

//--- logistic_is_odd: sigmoid(0) is 1/2
func.func @before(%x: !m) -> !m {
  %a = mlc.neg %x : (!m) -> !m
  %s = mlc.sigmoid %a : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m) -> !m {
  %s = mlc.sigmoid %x : (!m) -> !m
  %d = mlc.neg %s : (!m) -> !m
  return %d : !m
}

//--- softmax_of_shifted_elements: each by its own number
func.func @before(%x: !m, %y: !m) -> !m attributes {mlc.assume = ["m >= 1"]} {
  %a = mlc.add %x, %y : (!m, !m) -> !m
  %s = mlc.softmax %a {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}
func.func @after(%x: !m, %y: !m) -> !m {
  %s = mlc.softmax %x {axis = 1 : i64} : (!m) -> !m
  return %s : !m
}

//--- softplus_plus_its_mirror: log(1 + 1) is not 0
func.func @before(%x: !m) -> !m {
  %o = mlc.fill {dims = #mlc.dims<[n, m]>, value = #mlc.real<1.0>, type = f32} : () -> !m
  %a = mlc.neg %x : (!m) -> !m
  %eu = mlc.exp %x : (!m) -> !m
  %pu = mlc.add %o, %eu : (!m, !m) -> !m
  %u = mlc.log %pu : (!m) -> !m
  %ev = mlc.exp %a : (!m) -> !m
  %pv = mlc.add %o, %ev : (!m, !m) -> !m
  %v = mlc.log %pv : (!m) -> !m
  %d = mlc.add %u, %v : (!m, !m) -> !m
  return %d : !m
}
func.func @after(%x: !m) -> !m {
  return %x : !m
}

//--- shifted_logarithm_of_sum_with_sign: the shift has the other sign
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
  %t = mlc.sub %l, %y : (!r, !r) -> !r
  return %t : !r
}
