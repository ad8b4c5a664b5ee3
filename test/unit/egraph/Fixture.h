//===- Fixture.h - Functions and rules from text ----------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_EGRAPH_FIXTURE_H
#define MLC_TEST_UNIT_EGRAPH_FIXTURE_H

#include "dialects/Symbolic/Attributes.h"
#include "mlir/Parser/Parser.h"
#include "rewrites/EGraph/Select.h"

namespace mlc::test {

/// A context, rules and functions that live as long as it does.
class Fixture {
public:
  Fixture() {
    context
        .loadDialect<MlcDialect, rule::RuleDialect, mlir::func::FuncDialect>();
  }

  /// The first function of a module's text.
  mlir::func::FuncOp function(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    return *modules.back()->getOps<mlir::func::FuncOp>().begin();
  }

  void addRules(const std::string &text) {
    if (mlir::failed(addRuleFile(rules, &context, text, "rules")))
      llvm::report_fatal_error("the test's rules must parse");
  }

  /// Programs of all rules.
  std::vector<const egraph::RuleProgram *> compile() {
    std::vector<const egraph::RuleProgram *> pointers;
    for (Rule &rule : rules.rules) {
      programs.push_back(egraph::RuleProgram::compile(rule));
      pointers.push_back(programs.back().get());
    }
    return pointers;
  }

  mlir::MLIRContext context;
  RuleSet rules;
  std::vector<std::unique_ptr<egraph::RuleProgram>> programs;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

/// Element-wise rules that explode: every order and nesting of a sum.
inline constexpr const char *sumRules = R"mlir(
!t = tensor<?x?xf32, #mlc.dims<[a, b]>>
rule.def @commute "x + y = y + x" {
  func.func @before(%x: !t, %y: !t) -> !t {
    %0 = mlc.add %x, %y : (!t, !t) -> !t
    return %0 : !t
  }
  func.func @after(%x: !t, %y: !t) -> !t {
    %0 = mlc.add %y, %x : (!t, !t) -> !t
    return %0 : !t
  }
}
rule.def @associate "(x + y) + z = x + (y + z)" {
  func.func @before(%x: !t, %y: !t, %z: !t) -> !t {
    %0 = mlc.add %x, %y : (!t, !t) -> !t
    %1 = mlc.add %0, %z : (!t, !t) -> !t
    return %1 : !t
  }
  func.func @after(%x: !t, %y: !t, %z: !t) -> !t {
    %0 = mlc.add %y, %z : (!t, !t) -> !t
    %1 = mlc.add %x, %0 : (!t, !t) -> !t
    return %1 : !t
  }
}
)mlir";

} // namespace mlc::test

#endif // MLC_TEST_UNIT_EGRAPH_FIXTURE_H
