// What is done to every element, before or after elements move.

!m = tensor<?x?xf32, #mlc.dims<[n, m]>>
!w = tensor<?x?xf32, #mlc.dims<[n, q]>>
!mw = tensor<?x?xf32, #mlc.dims<[n, m + q]>>
!t = tensor<?x?xf32, #mlc.dims<[m, n]>>
!f = tensor<?xf32, #mlc.dims<[n * m]>>
!i = tensor<?xi64, #mlc.dims<[k]>>
!j = tensor<?xi64, #mlc.dims<[l]>>
!g = tensor<?x?xf32, #mlc.dims<[k, m]>>
!u = tensor<?x?xf32, #mlc.dims<[m, k]>>
!gw = tensor<?x?xf32, #mlc.dims<[k, q]>>
!gmw = tensor<?x?xf32, #mlc.dims<[k, m + q]>>
!gl = tensor<?x?xf32, #mlc.dims<[k, l]>>
!nl = tensor<?x?xf32, #mlc.dims<[n, l]>>
!s = tensor<?x?xf32, #mlc.dims<[h, m]>>
!p = tensor<?x?xf32, #mlc.dims<[n + a + b, m]>>

//--- negative_through_gather: -gather(x) = gather(-x): 0, for what is out of range, is its own negative
func.func @before(%x: !m, %i: !i) -> !g {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.neg %a : (!g) -> !g
  return %b : !g
}
func.func @after(%x: !m, %i: !i) -> !g {
  %a = mlc.neg %x : (!m) -> !m
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!m, !i) -> !g
  return %b : !g
}

//--- sum_of_gathers: gather(x) + gather(y) = gather(x + y) of the same indices
func.func @before(%x: !m, %y: !m, %i: !i) -> !g {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.gather %y, %i {axis = 0 : i64} : (!m, !i) -> !g
  %c = mlc.add %a, %b : (!g, !g) -> !g
  return %c : !g
}
func.func @after(%x: !m, %y: !m, %i: !i) -> !g {
  %a = mlc.add %x, %y : (!m, !m) -> !m
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!m, !i) -> !g
  return %b : !g
}

//--- rectifier_through_gather: relu(gather(x)) = gather(relu(x)), for relu(0) = 0
func.func @before(%x: !m, %i: !i) -> !g {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.relu %a : (!g) -> !g
  return %b : !g
}
func.func @after(%x: !m, %i: !i) -> !g {
  %a = mlc.relu %x : (!m) -> !m
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!m, !i) -> !g
  return %b : !g
}

//--- gather_of_transpose: rows of the transpose are columns
func.func @before(%x: !t, %i: !i) -> !g {
  %a = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!t) -> !m
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!m, !i) -> !g
  return %b : !g
}
func.func @after(%x: !t, %i: !i) -> !g {
  %a = mlc.gather %x, %i {axis = 1 : i64} : (!t, !i) -> !u
  %b = mlc.transpose %a {permutation = array<i64: 1, 0>} : (!u) -> !g
  return %b : !g
}

//--- gathers_along_two_axes: rows, then columns; columns, then rows
func.func @before(%x: !m, %i: !i, %j: !j) -> !gl {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.gather %a, %j {axis = 1 : i64} : (!g, !j) -> !gl
  return %b : !gl
}
func.func @after(%x: !m, %i: !i, %j: !j) -> !gl {
  %a = mlc.gather %x, %j {axis = 1 : i64} : (!m, !j) -> !nl
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!nl, !i) -> !gl
  return %b : !gl
}

//--- gather_of_joined_rows: rows of x and y side by side
func.func @before(%x: !m, %y: !w, %i: !i) -> !gmw {
  %a = mlc.concat %x, %y {axis = 1 : i64} : (!m, !w) -> !mw
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!mw, !i) -> !gmw
  return %b : !gmw
}
func.func @after(%x: !m, %y: !w, %i: !i) -> !gmw {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.gather %y, %i {axis = 0 : i64} : (!w, !i) -> !gw
  %c = mlc.concat %a, %b {axis = 1 : i64} : (!g, !gw) -> !gmw
  return %c : !gmw
}

//--- rectifier_through_transpose: relu(x^T) = relu(x)^T
func.func @before(%x: !m) -> !t {
  %a = mlc.transpose %x {permutation = array<i64: 1, 0>} : (!m) -> !t
  %b = mlc.relu %a : (!t) -> !t
  return %b : !t
}
func.func @after(%x: !m) -> !t {
  %a = mlc.relu %x : (!m) -> !m
  %b = mlc.transpose %a {permutation = array<i64: 1, 0>} : (!m) -> !t
  return %b : !t
}

//--- exponential_through_reshape: exp of the flat tensor
func.func @before(%x: !m) -> !f {
  %a = mlc.reshape %x {dims = #mlc.dims<[n * m]>} : (!m) -> !f
  %b = mlc.exp %a : (!f) -> !f
  return %b : !f
}
func.func @after(%x: !m) -> !f {
  %a = mlc.exp %x : (!m) -> !m
  %b = mlc.reshape %a {dims = #mlc.dims<[n * m]>} : (!m) -> !f
  return %b : !f
}

//--- tanh_through_slice: tanh of a part
func.func @before(%x: !m) -> !s attributes {mlc.assume = ["p + h <= n", "p >= 0"]} {
  %a = mlc.slice %x {starts = #mlc.dims<[p, 0]>, sizes = #mlc.dims<[h, m]>, steps = #mlc.dims<[1, 1]>} : (!m) -> !s
  %b = mlc.tanh %a : (!s) -> !s
  return %b : !s
}
func.func @after(%x: !m) -> !s {
  %a = mlc.tanh %x : (!m) -> !m
  %b = mlc.slice %a {starts = #mlc.dims<[p, 0]>, sizes = #mlc.dims<[h, m]>, steps = #mlc.dims<[1, 1]>} : (!m) -> !s
  return %b : !s
}

//--- rectifier_through_concat: relu of both parts
func.func @before(%x: !m, %y: !w) -> !mw {
  %a = mlc.concat %x, %y {axis = 1 : i64} : (!m, !w) -> !mw
  %b = mlc.relu %a : (!mw) -> !mw
  return %b : !mw
}
func.func @after(%x: !m, %y: !w) -> !mw {
  %a = mlc.relu %x : (!m) -> !m
  %b = mlc.relu %y : (!w) -> !w
  %c = mlc.concat %a, %b {axis = 1 : i64} : (!m, !w) -> !mw
  return %c : !mw
}

//--- exponential_through_pad: exp of a border of 0 is one of 1
func.func @before(%x: !m) -> !p attributes {mlc.assume = ["a >= 0", "b >= 0"]} {
  %a = mlc.pad %x {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!m) -> !p
  %b = mlc.exp %a : (!p) -> !p
  return %b : !p
}
func.func @after(%x: !m) -> !p {
  %a = mlc.exp %x : (!m) -> !m
  %b = mlc.pad %a {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<1.0>} : (!m) -> !p
  return %b : !p
}

//--- cosine_through_reverse: cos of the reversed
func.func @before(%x: !m) -> !m {
  %a = mlc.reverse %x {axes = array<i64: 0>} : (!m) -> !m
  %b = mlc.cos %a : (!m) -> !m
  return %b : !m
}
func.func @after(%x: !m) -> !m {
  %a = mlc.cos %x : (!m) -> !m
  %b = mlc.reverse %a {axes = array<i64: 0>} : (!m) -> !m
  return %b : !m
}
