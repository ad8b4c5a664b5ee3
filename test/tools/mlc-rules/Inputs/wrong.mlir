// max(-x, 0) is not max(x, 0).
!t = tensor<?xf32, #mlc.dims<[n]>>
rule.def @relu_of_neg "a rectifier does not see the sign" {
  func.func @before(%x: !t) -> !t {
    %0 = mlc.neg %x : (!t) -> !t
    %1 = mlc.relu %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t) -> !t {
    %0 = mlc.relu %x : (!t) -> !t
    return %0 : !t
  }
}
