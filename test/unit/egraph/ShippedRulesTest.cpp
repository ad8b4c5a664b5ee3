//===- ShippedRulesTest.cpp - What the build knows of the shipped rules ---===//

#include "Fixture.h"
#include "mlir/IR/Verifier.h"
#include <catch2/catch.hpp>

using namespace mlc;
using namespace mlc::test;
using namespace mlir;

// The shipped files are read without verification, and with hashes of the
// build: both must be what reading them as a user's file comes to.
TEST_CASE("the build's hashes are those of the shipped rules") {
  Fixture fixture;
  REQUIRE(succeeded(addShippedRules(fixture.rules, &fixture.context)));
  REQUIRE(fixture.rules.rules.size() > 200);
  for (Rule &rule : fixture.rules.rules) {
    FailureOr<Rule> again = Rule::read(rule.def);
    REQUIRE(succeeded(again));
    INFO(rule.getName().str());
    CHECK(again->hash == rule.hash);
    CHECK(rule.proved);
  }
  for (OwningOpRef<ModuleOp> &module : fixture.rules.modules)
    CHECK(succeeded(verify(*module)));
}

TEST_CASE("a changed text of a shipped file is verified and hashed anew") {
  const EmbeddedRuleFile &file = writtenRuleFiles().front();
  std::string text = file.text;
  text += "\n// A comment.\n";
  Fixture fixture;
  RuleSet shipped, changed;
  REQUIRE(
      succeeded(addRuleFile(shipped, &fixture.context, file.text, file.name)));
  REQUIRE(succeeded(addRuleFile(changed, &fixture.context, text, "changed")));
  REQUIRE(shipped.rules.size() == changed.rules.size());
  for (auto [one, other] : llvm::zip(shipped.rules, changed.rules))
    CHECK(one.hash == other.hash);

  // An ill-typed operator is refused although all rules before it are known.
  text += "rule.def @wrong \"ill-typed\" {\n"
          "  func.func @before(%x: tensor<!n x f32>) { return }\n}\n";
  RuleSet wrong;
  ScopedDiagnosticHandler quiet(&fixture.context,
                                [](Diagnostic &) { return success(); });
  CHECK(failed(addRuleFile(wrong, &fixture.context, text, "wrong")));
}
