!x = tensor<?x?xf32, #mlc.dims<[n, k]>>
!y = tensor<?x?xf32, #mlc.dims<[m, k]>>
rule.def @relu_of_rows "relu of the first rows is the first rows of relu" {
  rule.require m le n
  func.func @before(%x: !x) -> !y {
    %0 = mlc.slice %x {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, k]>, steps = #mlc.dims<[1, 1]>} : (!x) -> !y
    %1 = mlc.relu %0 : (!y) -> !y
    return %1 : !y
  }
  func.func @after(%x: !x) -> !y {
    %0 = mlc.relu %x : (!x) -> !x
    %1 = mlc.slice %0 {starts = #mlc.dims<[0, 0]>, sizes = #mlc.dims<[m, k]>, steps = #mlc.dims<[1, 1]>} : (!x) -> !y
    return %1 : !y
  }
}
