//===- Rule.td - A rewrite as data -------------------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_RULE_RULE
#define MLC_DIALECTS_RULE_RULE

include "dialects/Symbolic/Attributes.td"
include "dialects/Symbolic/Enums.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Rule_Dialect : Dialect {
  let name = "rule";
  let cppNamespace = "::mlc::rule";
  let summary = "rewrites as data: before, after, condition";
  let description = [{
    An argument of a rule's `@before` may carry what holds of all its elements,
    as unit attributes: `rule.constant` (known at compile time),
    `rule.positive`, `rule.nonnegative`, `rule.nonzero`, `rule.finite`,
    `rule.allequal`. All but `rule.constant` are checked on constant arguments
    only.
  }];
  let dependentDialects = ["::mlc::MlcDialect", "::mlir::func::FuncDialect"];
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Rule_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rule_Dialect, mnemonic, traits>;

def Rule_DefOp : Rule_Op<"def", [Symbol, SymbolTable, NoTerminator, SingleBlock,
                                 IsolatedFromAbove, NoRegionArguments]> {
  let summary = "one rewrite: wherever `before` stands, `after` may stand";
  let description = [{
    Holds `func.func @before` and `func.func @after` with the same arguments,
    whose dims, integer attributes and real attributes may be symbols (the
    rule's parameters), and the condition: every `rule.require` and
    `rule.assume_real` in it, and what stands at the arguments of `@before`
    about their elements (`rule.constant`, `rule.positive`, ...).

    ```mlir
    rule.def @scale_of_product "a scale moves into the weights" {
      rule.require k ge 1
      func.func @before(%x: !x, %w: !w {rule.constant}) -> !y { ... }
      func.func @after(%x: !x, %w: !w) -> !y { ... }
    }
    ```

    `attributes {lowering}` marks a rule that only suits mlc's own code
    generator: `after` is what it makes good code of. A model that goes to
    another runtime keeps `before`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$text, UnitAttr:$lowering);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $text attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::func::FuncOp getBefore();
    ::mlir::func::FuncOp getAfter();
    /// Whether the argument of @before is assumed to have only such elements.
    bool assumes(unsigned argument, ::mlc::ElementPredicate predicate);
    /// Adds that assumption.
    void assume(unsigned argument, ::mlc::ElementPredicate predicate);
  }];
}

def Rule_RequireOp : Rule_Op<"require", [HasParent<"DefOp">]> {
  let summary = "a predicate on the rule's symbols";
  let description = [{
    `rule.require p ge k - 1 or s divides h`: at least one of the comparisons
    holds. Words: eq, ne, lt, le, gt, ge, divides (the left divides the right).
    Several `rule.require` all hold.
  }];
  let arguments = (ins Mlc_DimsAttr:$lhs, StrArrayAttr:$predicates, Mlc_DimsAttr:$rhs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Rule_AssumeRealOp : Rule_Op<"assume_real", [HasParent<"DefOp">]> {
  let summary = "a bound on a real parameter";
  let description = "`rule.assume_real eps gt 0.0`.";
  let arguments = (ins StrAttr:$parameter,
                       Mlc_WordAttr<Mlc_ComparePredicate>:$predicate, F64Attr:$bound);
  let hasCustomAssemblyFormat = 1;
}

#endif // MLC_DIALECTS_RULE_RULE
