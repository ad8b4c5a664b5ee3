// Elements that are repeated, and what takes one of each.

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

//--- nearest_twice_then_every_second: doubled by nearest neighbours, every second is x
func.func @before(%x: !x) -> !x {
  %a = mlc.resize %x {dims = #mlc.dims<[2 * n]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = []} : (!x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[2]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- each_twice_then_even_ones: each twice, then elements 0, 2, ...
func.func @before(%x: !x) -> !x {
  %a = mlc.compute %x {definition = "(x) Y[i] = x<0>[floordiv(i, 2)]", dims = #mlc.dims<[2 * n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[2]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- each_twice_then_odd_ones: each twice, then elements 1, 3, ...
func.func @before(%x: !x) -> !x attributes {mlc.assume = ["n >= 1"]} {
  %a = mlc.compute %x {definition = "(x) Y[i] = x<0>[floordiv(i, 2)]", dims = #mlc.dims<[2 * n]>, integers = #mlc.dims<[]>, reals = [], type = f32} : (!x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[1]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[2]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- each_k_times_then_every_kth: each k times, then every k-th
func.func @before(%x: !x) -> !x attributes {mlc.assume = ["k >= 1"]} {
  %a = mlc.compute %x {definition = "(x; k) Y[i] = x<0>[floordiv(i, k)]", dims = #mlc.dims<[k * n]>, integers = #mlc.dims<[k]>, reals = [], type = f32} : (!x) -> !xk
  %b = mlc.slice %a {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[k]>} : (!xk) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- mean_over_windows_of_one_number: without borders
func.func @before() -> !v attributes {mlc.assume = ["k >= 1", "k <= h"]} {
  %a = mlc.fill {dims = #mlc.dims<[b, c, h]>, value = #mlc.real<t>, type = f32} : () -> !c
  %q = mlc.avg_pool %a {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = false} : (!c) -> !v
  return %q : !v
}
func.func @after() -> !v {
  %q = mlc.fill {dims = #mlc.dims<[b, c, h - k + 1]>, value = #mlc.real<t>, type = f32} : () -> !v
  return %q : !v
}

//--- maximum_over_windows_of_one_number: without borders
func.func @before() -> !v attributes {mlc.assume = ["k >= 1", "k <= h"]} {
  %a = mlc.fill {dims = #mlc.dims<[b, c, h]>, value = #mlc.real<t>, type = f32} : () -> !c
  %q = mlc.max_pool %a {kernel = #mlc.dims<[k]>, strides = #mlc.dims<[1]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>} : (!c) -> !v
  return %q : !v
}
func.func @after() -> !v {
  %q = mlc.fill {dims = #mlc.dims<[b, c, h - k + 1]>, value = #mlc.real<t>, type = f32} : () -> !v
  return %q : !v
}

//--- twice_in_a_row_then_the_first: x beside x, then the first of both
func.func @before(%x: !x) -> !x {
  %a = mlc.concat %x, %x {axis = 0 : i64} : (!x, !x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[0]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- twice_in_a_row_then_the_second: x beside x, then the second of both
func.func @before(%x: !x) -> !x {
  %a = mlc.concat %x, %x {axis = 0 : i64} : (!x, !x) -> !x2
  %b = mlc.slice %a {starts = #mlc.dims<[n]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!x2) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- thrice_in_a_row_then_the_middle: x three times, by remainders, then the middle one
func.func @before(%x: !x) -> !x attributes {mlc.assume = ["n >= 1"]} {
  %a = mlc.compute %x {definition = "(x; n) Y[i] = x<0>[mod(i, n)]", dims = #mlc.dims<[3 * n]>, integers = #mlc.dims<[n]>, reals = [], type = f32} : (!x) -> !x3
  %b = mlc.slice %a {starts = #mlc.dims<[n]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!x3) -> !x
  return %b : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}

//--- broadcast_then_mean: the mean of equals
func.func @before(%x: !r) -> !r attributes {mlc.assume = ["m >= 1"]} {
  %b = mlc.broadcast %x {dims = #mlc.dims<[n, m]>} : (!r) -> !m
  %q = mlc.reduce %b {kind = "mean", axes = array<i64: 1>} : (!m) -> !r
  return %q : !r
}
func.func @after(%x: !r) -> !r {
  return %x : !r
}

//--- nearest_twice_then_means: each twice, then means of two
func.func @before(%x: !c) -> !c attributes {mlc.assume = ["b >= 1", "c >= 1", "h >= 1"]} {
  %a = mlc.resize %x {dims = #mlc.dims<[b, c, 2 * h]>, mode = "nearest", transform = "asymmetric", nearest_mode = "floor", scales = []} : (!c) -> !c2
  %q = mlc.avg_pool %a {kernel = #mlc.dims<[2]>, strides = #mlc.dims<[2]>, pads = #mlc.dims<[0, 0]>, dilations = #mlc.dims<[1]>, ceil_pads = #mlc.dims<[0]>, count_include_pad = true} : (!c2) -> !c
  return %q : !c
}
func.func @after(%x: !c) -> !c {
  return %x : !c
}

//--- border_then_inside: a border, then what is inside
func.func @before(%x: !x) -> !x attributes {mlc.assume = ["a >= 0", "b >= 0"]} {
  %a = mlc.pad %x {low = #mlc.dims<[a]>, high = #mlc.dims<[b]>, mode = "constant", value = #mlc.real<t>} : (!x) -> !p
  %q = mlc.slice %a {starts = #mlc.dims<[a]>, sizes = #mlc.dims<[n]>, steps = #mlc.dims<[1]>} : (!p) -> !x
  return %q : !x
}
func.func @after(%x: !x) -> !x {
  return %x : !x
}
