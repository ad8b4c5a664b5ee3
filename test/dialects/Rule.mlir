// What a rule refuses.
// RUN: mlc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'rule.def' op requires func.func @before and @after}}
rule.def @r "a rule" {
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error @+1 {{'rule.def' op requires bodies of @before and @after}}
rule.def @r "a rule" {
  func.func private @before(tensor<2xf32>) -> tensor<2xf32>
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error @+1 {{'rule.def' op requires equal arguments of @before and @after}}
rule.def @r "a rule" {
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error @+1 {{'rule.def' op requires as many results of @after as of @before, 1, got 2}}
rule.def @r "a rule" {
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    return %x, %x : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// expected-error @+1 {{'rule.def' op requires equal element types of results, got 'tensor<2xf32>' and 'tensor<2xf64>'}}
rule.def @r "a rule" {
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf64> {
    %0 = mlc.cast %x {to = f64} : (tensor<2xf32>) -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'func.func' op has 'rule.positive' at argument 0: it has no value}}
  func.func @before(%x: tensor<2xf32> {rule.positive = 1 : i64}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  // expected-error @+1 {{'func.func' op has 'rule.constant' at argument 0: it belongs at an argument of a rule's @before}}
  func.func @after(%x: tensor<2xf32> {rule.constant}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'func.func' op has 'rule.constant' at a result: it belongs at an argument of a rule's @before}}
  func.func @before(%x: tensor<2xf32>) -> (tensor<2xf32> {rule.constant}) {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error @+1 {{'func.func' op has 'rule.constant' at argument 1: it belongs at an argument of a rule's @before}}
func.func @no_rule(%x: tensor<2xf32>, %y: tensor<2xf32> {rule.constant}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'func.func' op has 'rule.small' at argument 0: expected rule.positive, rule.nonnegative, rule.nonzero, rule.finite, rule.allequal, rule.constant}}
  func.func @before(%x: tensor<2xf32> {rule.small}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'rule.require' op does not know 'over' - expected eq, ne, lt, le, gt, ge or divides}}
  rule.require n over 1
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'rule.assume_real' op attribute 'predicate' failed to satisfy constraint: eq, ne, lt, le, gt or ge}}
  rule.assume_real t near 1.0
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  func.func @between() {
    return
  }
  // expected-error @+1 {{'mlc.fill' op does not belong in a rule.def}}
  %0 = mlc.fill {dims = #mlc.dims<[2]>, value = #mlc.real<0.0>, type = f32} : () -> tensor<2xf32>
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'rule.require' op requires two sides for each of 1 or more predicates, got 1 and 1 for 2}}
  "rule.require"() {lhs = #mlc.dims<[n]>, predicates = ["ge", "lt"], rhs = #mlc.dims<[1]>} : () -> ()
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'rule.require' op requires two sides for each of 1 or more predicates, got 0 and 0 for 0}}
  "rule.require"() {lhs = #mlc.dims<[]>, predicates = [], rhs = #mlc.dims<[]>} : () -> ()
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

rule.def @r "a rule" {
  // expected-error @+1 {{'rule.assume_real' op attribute 'predicate' failed to satisfy constraint: eq, ne, lt, le, gt or ge}}
  "rule.assume_real"() {parameter = "t", predicate = "divides", bound = 1.0} : () -> ()
  func.func @before(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @after(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
