// Common identities of element-wise operators, on tensors of any four dims.

!t = tensor<?x?x?x?xf32, #mlc.dims<[a, b, c, d]>>

rule.def @neg_of_neg "two negations cancel" {
  func.func @before(%x: !t) -> !t {
    %0 = mlc.neg %x : (!t) -> !t
    %1 = mlc.neg %0 : (!t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t) -> !t {
    return %x : !t
  }
}

rule.def @distribute_product "a x + a y = a (x + y)" {
  func.func @before(%a: !t, %x: !t, %y: !t) -> !t {
    %0 = mlc.mul %a, %x : (!t, !t) -> !t
    %1 = mlc.mul %a, %y : (!t, !t) -> !t
    %2 = mlc.add %0, %1 : (!t, !t) -> !t
    return %2 : !t
  }
  func.func @after(%a: !t, %x: !t, %y: !t) -> !t {
    %0 = mlc.add %x, %y : (!t, !t) -> !t
    %1 = mlc.mul %a, %0 : (!t, !t) -> !t
    return %1 : !t
  }
}

!k = tensor<1x1x1x1xf32>

rule.def @divide_by_constant "division by a constant is a product with its reciprocal" {
  func.func @before(%x: !t, %y: !k {rule.constant}) -> !t {
    %0 = mlc.broadcast %y {dims = #mlc.dims<[a, b, c, d]>} : (!k) -> !t
    %1 = mlc.div %x, %0 : (!t, !t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t, %y: !k) -> !t {
    %0 = mlc.reciprocal %y : (!k) -> !k
    %1 = mlc.broadcast %0 {dims = #mlc.dims<[a, b, c, d]>} : (!k) -> !t
    %2 = mlc.mul %x, %1 : (!t, !t) -> !t
    return %2 : !t
  }
}

rule.def @product_of_exponentials "exp(x) exp(y) = exp(x + y)" {
  func.func @before(%x: !t, %y: !t) -> !t {
    %0 = mlc.exp %x : (!t) -> !t
    %1 = mlc.exp %y : (!t) -> !t
    %2 = mlc.mul %0, %1 : (!t, !t) -> !t
    return %2 : !t
  }
  func.func @after(%x: !t, %y: !t) -> !t {
    %0 = mlc.add %x, %y : (!t, !t) -> !t
    %1 = mlc.exp %0 : (!t) -> !t
    return %1 : !t
  }
}

rule.def @relu_through_concat "rectifiers in front of a concatenation become one behind it" {
  func.func @before(%x: tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>, %y: tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>> {
    %0 = mlc.relu %x : (tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>
    %1 = mlc.relu %y : (tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>
    %2 = mlc.concat %0, %1 {axis = 1 : i64} : (tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>, tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
    return %2 : tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
  }
  func.func @after(%x: tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>, %y: tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>> {
    %0 = mlc.concat %x, %y {axis = 1 : i64} : (tensor<?x?x?x?xf32, #mlc.dims<[n, a, h, w]>>, tensor<?x?x?x?xf32, #mlc.dims<[n, b, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
    %1 = mlc.relu %0 : (tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>) -> tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
    return %1 : tensor<?x?x?x?xf32, #mlc.dims<[n, a + b, h, w]>>
  }
}
