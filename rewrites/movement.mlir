// Data movement: transposes, reshapes, slices, concatenations, borders.

!nchw = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, w]>>
!nhwc = tensor<?x?x?x?xf32, #mlc.dims<[n, h, w, c]>>

rule.def @channels_last_and_back "moving channels last and back does nothing" {
  func.func @before(%x: !nchw) -> !nchw {
    %0 = mlc.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (!nchw) -> !nhwc
    %1 = mlc.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : (!nhwc) -> !nchw
    return %1 : !nchw
  }
  func.func @after(%x: !nchw) -> !nchw {
    return %x : !nchw
  }
}

rule.def @channels_first_and_back "moving channels first and back does nothing" {
  func.func @before(%x: !nhwc) -> !nhwc {
    %0 = mlc.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (!nhwc) -> !nchw
    %1 = mlc.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (!nchw) -> !nhwc
    return %1 : !nhwc
  }
  func.func @after(%x: !nhwc) -> !nhwc {
    return %x : !nhwc
  }
}

rule.def @slice_of_slice "a slice of a slice is one slice" {
  rule.require s ge 1
  rule.require t ge 1
  func.func @before(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[b]>> {
    %0 = mlc.slice %x {starts = #mlc.dims<[i]>, sizes = #mlc.dims<[a]>, steps = #mlc.dims<[s]>} : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[a]>>
    %1 = mlc.slice %0 {starts = #mlc.dims<[j]>, sizes = #mlc.dims<[b]>, steps = #mlc.dims<[t]>} : (tensor<?xf32, #mlc.dims<[a]>>) -> tensor<?xf32, #mlc.dims<[b]>>
    return %1 : tensor<?xf32, #mlc.dims<[b]>>
  }
  func.func @after(%x: tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[b]>> {
    %0 = mlc.slice %x {starts = #mlc.dims<[i + j * s]>, sizes = #mlc.dims<[b]>, steps = #mlc.dims<[s * t]>} : (tensor<?xf32, #mlc.dims<[n]>>) -> tensor<?xf32, #mlc.dims<[b]>>
    return %0 : tensor<?xf32, #mlc.dims<[b]>>
  }
}

!ca = tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>
!cb = tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>
!cc = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, w]>>
!cab = tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
!cbc = tensor<?x?x?x?xf32, #mlc.dims<[n, b + c, h, w]>>
!cabc = tensor<?x?x?x?xf32, #mlc.dims<[n, a + b + c, h, w]>>

rule.def @concat_of_slices "the two parts of a tensor put together are the tensor" {
  func.func @before(%x: !cab) -> !cab {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0, 0, 0]>, sizes = #mlc.dims<[n, a, h, w]>, steps = #mlc.dims<[1, 1, 1, 1]>} : (!cab) -> !ca
    %1 = mlc.slice %x {starts = #mlc.dims<[0, a, 0, 0]>, sizes = #mlc.dims<[n, b, h, w]>, steps = #mlc.dims<[1, 1, 1, 1]>} : (!cab) -> !cb
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (!ca, !cb) -> !cab
    return %2 : !cab
  }
  func.func @after(%x: !cab) -> !cab {
    return %x : !cab
  }
}

rule.def @concat_of_concat "a concatenation inside a concatenation is one" {
  func.func @before(%x: !ca, %y: !cb, %z: !cc) -> !cabc {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (!ca, !cb) -> !cab
    %1 = mlc.concat %0, %z {axis = 1 : i64} : (!cab, !cc) -> !cabc
    return %1 : !cabc
  }
  func.func @after(%x: !ca, %y: !cb, %z: !cc) -> !cabc {
    %0 = mlc.concat %x, %y, %z {axis = 1 : i64} : (!ca, !cb, !cc) -> !cabc
    return %0 : !cabc
  }
}

rule.def @concat_of_last_concat "a concatenation that ends in a concatenation is one" {
  func.func @before(%x: !ca, %y: !cb, %z: !cc) -> !cabc {
    %0 = mlc.concat %y, %z {axis = 1 : i64} : (!cb, !cc) -> !cbc
    %1 = mlc.concat %x, %0 {axis = 1 : i64} : (!ca, !cbc) -> !cabc
    return %1 : !cabc
  }
  func.func @after(%x: !ca, %y: !cb, %z: !cc) -> !cabc {
    %0 = mlc.concat %x, %y, %z {axis = 1 : i64} : (!ca, !cb, !cc) -> !cabc
    return %0 : !cabc
  }
}

!p0 = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h, w]>>
!p1 = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h + t1 + b1, w + l1 + r1]>>
!p2 = tensor<?x?x?x?xf32, #mlc.dims<[n, c, h + t1 + b1 + t2 + b2, w + l1 + r1 + l2 + r2]>>

rule.def @pad_of_pad "two borders of one value are one" {
  func.func @before(%x: !p0) -> !p2 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, t1, l1]>, high = #mlc.dims<[0, 0, b1, r1]>, mode = "constant", value = #mlc.real<v>} : (!p0) -> !p1
    %1 = mlc.pad %0 {low = #mlc.dims<[0, 0, t2, l2]>, high = #mlc.dims<[0, 0, b2, r2]>, mode = "constant", value = #mlc.real<v>} : (!p1) -> !p2
    return %1 : !p2
  }
  func.func @after(%x: !p0) -> !p2 {
    %0 = mlc.pad %x {low = #mlc.dims<[0, 0, t1 + t2, l1 + l2]>, high = #mlc.dims<[0, 0, b1 + b2, r1 + r2]>, mode = "constant", value = #mlc.real<v>} : (!p0) -> !p2
    return %0 : !p2
  }
}

!ms = tensor<?x?xf32, #mlc.dims<[m, n]>>
!ms1 = tensor<?x?xf32, #mlc.dims<[a, b]>>
!ms2 = tensor<?x?xf32, #mlc.dims<[c, d]>>

rule.def @slice_of_slice_2d "a slice of a slice of a matrix is one slice" {
  func.func @before(%x: !ms) -> !ms2 {
    %0 = mlc.slice %x {starts = #mlc.dims<[i, j]>, sizes = #mlc.dims<[a, b]>, steps = #mlc.dims<[1, 1]>} : (!ms) -> !ms1
    %1 = mlc.slice %0 {starts = #mlc.dims<[p, q]>, sizes = #mlc.dims<[c, d]>, steps = #mlc.dims<[1, 1]>} : (!ms1) -> !ms2
    return %1 : !ms2
  }
  func.func @after(%x: !ms) -> !ms2 {
    %0 = mlc.slice %x {starts = #mlc.dims<[i + p, j + q]>, sizes = #mlc.dims<[c, d]>, steps = #mlc.dims<[1, 1]>} : (!ms) -> !ms2
    return %0 : !ms2
  }
}

!mx1 = tensor<?x?xf32, #mlc.dims<[a, n]>>
!mx2 = tensor<?x?xf32, #mlc.dims<[b, n]>>
!mx3 = tensor<?x?xf32, #mlc.dims<[c, n]>>
!mx12 = tensor<?x?xf32, #mlc.dims<[a + b, n]>>
!mx23 = tensor<?x?xf32, #mlc.dims<[b + c, n]>>
!mx123 = tensor<?x?xf32, #mlc.dims<[a + b + c, n]>>

rule.def @rows_of_rows "rows put below rows are put together at once" {
  func.func @before(%x: !mx1, %y: !mx2, %z: !mx3) -> !mx123 {
    %0 = mlc.concat %x, %y {axis = 0 : i64} : (!mx1, !mx2) -> !mx12
    %1 = mlc.concat %0, %z {axis = 0 : i64} : (!mx12, !mx3) -> !mx123
    return %1 : !mx123
  }
  func.func @after(%x: !mx1, %y: !mx2, %z: !mx3) -> !mx123 {
    %0 = mlc.concat %x, %y, %z {axis = 0 : i64} : (!mx1, !mx2, !mx3) -> !mx123
    return %0 : !mx123
  }
}

rule.def @rows_of_last_rows "rows put below rows that were put together are put together at once" {
  func.func @before(%x: !mx1, %y: !mx2, %z: !mx3) -> !mx123 {
    %0 = mlc.concat %y, %z {axis = 0 : i64} : (!mx2, !mx3) -> !mx23
    %1 = mlc.concat %x, %0 {axis = 0 : i64} : (!mx1, !mx23) -> !mx123
    return %1 : !mx123
  }
  func.func @after(%x: !mx1, %y: !mx2, %z: !mx3) -> !mx123 {
    %0 = mlc.concat %x, %y, %z {axis = 0 : i64} : (!mx1, !mx2, !mx3) -> !mx123
    return %0 : !mx123
  }
}
