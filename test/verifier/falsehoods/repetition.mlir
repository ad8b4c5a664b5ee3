// Elements that are repeated, and what takes another: none of these holds.

!x = tensor<?xf32, #mlc.dims<[n]>>
!x2 = tensor<?xf32, #mlc.dims<[2 * n]>>
!x3 = tensor<?xf32, #mlc.dims<[3 * n]>>
!xk = tensor<?xf32, #mlc.dims<[k * n]>>
!c = tensor<?x?x?xf32, #mlc.dims<[b, c, h]>>
!c2 = tensor<?x?x?xf32, #mlc.dims<[b, c, 2 * h]>>
!v = tensor<?x?x?xf32, #mlc.dims<[b, c, h - k + 1]>>
!m = tensor<?x?xf32, #mlc.dims<[n, m]>>
!r = tensor<?x1xf32, #mlc.dims<[n, 1]>>
!p = tensor<?xf32, #mlc.dims<[n + a + b]>>
!ci = tensor<?x?x?xf32, #mlc.dims<[b, c, h - 2]>>

//--- each_twice_shifted_then_odd_ones: the pairs begin one later
func.func @before(%x: !x) -> !x attributes {mlc.assume = ["n >= 1"]} {
  %a = mlc.compute %x {definition = "(x) Y[i] = x<0>[floordiv(i + 1, 2)]", dims = #mlc.dims<[2 * n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[2]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- mean_over_windows_with_border: the border counts
func.func @before() -> !c attributes {mlc.assume = ["h >= 3"]} {
  %a = mlc.fill {dims = #mlc.dims<[b, c, h]>, value = #mlc.real<t>, type = f32} : () -> !c
  %q = mlc.avg_pool %a {kernel = #mlc.dims<[3]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[1, 1]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!c) -> !c
  return %q : !c
}
func.func @after() -> !c {
  %q = mlc.fill {dims = #mlc.dims<[b, c, h]>, value = #mlc.real<t>, type = f32} : () -> !c
  return %q : !c
}

//--- second_half_of_another: the second half is y
func.func @before(%x: !x, %y: !x) -> !x {
  %a = mlc.concat %x, %y {axis = 0 : i64} : (!x, !x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[n]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x, %y: !x) -> !x {
  return %x : !x
}

//--- broadcast_then_sum: m times x
func.func @before(%x: !r) -> !r attributes {mlc.assume = ["m >= 1"]} {
  %b = mlc.broadcast %x {dims = #mlc.dims<[n, m]>} : (!r) -> !m
  %q = mlc.reduce %b {kind = "sum", axes = array<i64: 1>} : (!m) -> !r
  return %q : !r
}
func.func @after(%x: !r) -> !r {
  return %x : !r
}

//--- maximum_over_windows_with_zeros: the border is 0, t may be less
func.func @before() -> !v attributes {mlc.assume = ["k >= 1", "k <= h", "h >= 3"]} {
  %a = mlc.fill {dims = #mlc.dims<[b, c, h - 2]>, value = #mlc.real<t>, type = f32} : () -> !ci
  %z = mlc.pad %a {low = #mlc.dims<[0, 0, 1]>, high = #mlc.dims<[0, 0, 1]>, mode = "constant", value = #mlc.real<0.0>} : (!ci) -> !c
  %q = mlc.max_pool %z {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!c) -> !v
  return %q : !v
}
func.func @after() -> !v {
  %q = mlc.fill {dims = #mlc.dims<[b, c, h - k + 1]>, value = #mlc.real<t>, type = f32} : () -> !v
  return %q : !v
}

//--- thrice_each_then_every_second: from three of each every third is one
func.func @before(%x: !x) -> !x attributes {mlc.assume = ["n >= 2"]} {
  %a = mlc.compute %x {definition = "(x) Y[i] = x<0>[floordiv(i, 3)]", dims = #mlc.dims<[3 * n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x3
  %b = mlc.slice %a {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[2]>} : (!x3) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}
