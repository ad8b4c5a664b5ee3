// What is done to every element, before or after elements move: none of these holds.

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
!gj = tensor<?x?xf32, #mlc.dims<[l, m]>>
!il = tensor<?xi64, #mlc.dims<[l]>>

//--- exponential_through_gather: what is out of range is 0, or exp(0)
func.func @before(%x: !m, %i: !i) -> !g {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.exp %a : (!g) -> !g
  return %b : !g
}
func.func @after(%x: !m, %i: !i) -> !g {
  %a = mlc.exp %x : (!m) -> !m
  %b = mlc.gather %a, %i {axis = 0 : i64} : (!m, !i) -> !g
  return %b : !g
}

//--- gather_of_gathered_indices: an index out of range picks nothing, or element 0
func.func @before(%x: !m, %i: !i, %j: !j) -> !gj {
  %a = mlc.gather %x, %i {axis = 0 : i64} : (!m, !i) -> !g
  %b = mlc.gather %a, %j {axis = 0 : i64} : (!g, !j) -> !gj
  return %b : !gj
}
func.func @after(%x: !m, %i: !i, %j: !j) -> !gj {
  %a = mlc.gather %i, %j {axis = 0 : i64} : (!i, !j) -> !il
  %b = mlc.gather %x, %a {axis = 0 : i64} : (!m, !il) -> !gj
  return %b : !gj
}

//--- exponential_through_pad_of_zero: exp of a border of 0 is 1
func.func @before(%x: !m) -> !p attributes {mlc.assume = ["a >= 0", "b >= 0"]} {
  %a = mlc.pad %x {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!m) -> !p
  %b = mlc.exp %a : (!p) -> !p
  return %b : !p
}
func.func @after(%x: !m) -> !p {
  %a = mlc.exp %x : (!m) -> !m
  %b = mlc.pad %a {low = #mlc.dims<[a, 0]>, high = #mlc.dims<[b, 0]>, mode = "constant", value = #mlc.real<0.0>} : (!m) -> !p
  return %b : !p
}

//--- rectifier_of_one_part: the other part is left out
func.func @before(%x: !m, %y: !w) -> !mw {
  %a = mlc.concat %x, %y {axis = 1 : i64} : (!m, !w) -> !mw
  %b = mlc.relu %a : (!mw) -> !mw
  return %b : !mw
}
func.func @after(%x: !m, %y: !w) -> !mw {
  %a = mlc.relu %x : (!m) -> !m
  %c = mlc.concat %a, %y {axis = 1 : i64} : (!m, !w) -> !mw
  return %c : !mw
}

//--- tanh_through_slice_off_by_one: another part
func.func @before(%x: !m) -> !s attributes {mlc.assume = ["p + h <= n", "p >= 1"]} {
  %a = mlc.slice %x {starts = #mlc.dims<[p, 0]>, sizes = #mlc.dims<[h, m]>, steps = #mlc.dims<[1, 1]>} : (!m) -> !s
  %b = mlc.tanh %a : (!s) -> !s
  return %b : !s
}
func.func @after(%x: !m) -> !s {
  %a = mlc.tanh %x : (!m) -> !m
  %b = mlc.slice %a {starts = #mlc.dims<[p - 1, 0]>, sizes = #mlc.dims<[h, m]>, steps = #mlc.dims<[1, 1]>} : (!m) -> !s
  return %b : !s
}

//--- reverse_left_out: in the order that it had
func.func @before(%x: !m) -> !m {
  %a = mlc.reverse %x {axes = array<i64: 0>} : (!m) -> !m
  %b = mlc.cos %a : (!m) -> !m
  return %b : !m
}
func.func @after(%x: !m) -> !m {
  %b = mlc.cos %x : (!m) -> !m
  return %b : !m
}
