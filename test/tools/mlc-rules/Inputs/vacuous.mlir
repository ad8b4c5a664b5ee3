// Nothing meets the condition: such a rule says nothing.
!t = tensor<?xf32, #mlc.dims<[n]>>
rule.def @never "under no circumstances" {
  rule.require n ge 3
  rule.require n lt 2
  func.func @before(%x: !t) -> !t {
    %0 = mlc.neg %x : (!t) -> !t
    return %0 : !t
  }
  func.func @after(%x: !t) -> !t {
    return %x : !t
  }
}
