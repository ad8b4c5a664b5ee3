//===- Fixture.h - Forged trails over small functions -----------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_REPLAY_FIXTURE_H
#define MLC_TEST_UNIT_REPLAY_FIXTURE_H

#include "dialects/Symbolic/Attributes.h"
#include "mlir/Parser/Parser.h"
#include "rewrites/ProofLog/Replay.h"
#include <catch2/catch.hpp>

namespace mlc::test {

/// `text` with `to` in place of the first `from`, which it has.
inline std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Rules that are believed whatever they say, and the replay of trails by them.
class Fixture {
public:
  Fixture() {
    context
        .loadDialect<MlcDialect, rule::RuleDialect, mlir::func::FuncDialect>();
  }

  /// Adds a rule with these bodies; `!t` is [a, b], and the last line of a body
  /// returns.
  void add(const std::string &name, const std::string &arguments,
           const std::string &before, const std::string &after,
           const std::string &conditions = "", bool isTwoWay = true) {
    const std::string bare = withoutAttributes(arguments);
    addText("!t = tensor<?x?xf32, #mlc.dims<[a, b]>>\nrule.def @" + name +
                " \"\" {\n" + conditions + "\nfunc.func @before(" + arguments +
                ") -> !t {\n" + before + "\n}\nfunc.func @after(" + bare +
                ") -> !t {\n" + after + "\n}\n}\n",
            isTwoWay);
  }
  void addText(const std::string &text, bool isTwoWay = true) {
    REQUIRE(succeeded(addRuleFile(rules, &context, text, "rules")));
    rules.rules.back().proved = RuleProof{FloatClass::ValueChanging, isTwoWay};
  }

  /// A function of module text.
  mlir::func::FuncOp function(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    REQUIRE(modules.back());
    for (auto function : modules.back()->getOps<mlir::func::FuncOp>())
      if (!function.isExternal())
        return function;
    return {};
  }

  /// Why the trail is refused; empty where it is replayed.
  std::string why(mlir::func::FuncOp function, const Trail &trail) {
    llvm::Error error = replayTrail(
        function, trail, [&](const TrailStep &step) -> llvm::Expected<Rule *> {
          for (Rule &rule : rules.rules)
            if (rule.getName() == step.rule)
              return &rule;
          return llvm::createStringError("no rule " + step.rule);
        });
    return llvm::toString(std::move(error));
  }
  std::string why(const std::string &text, const Trail &trail) {
    return why(function(text), trail);
  }

  mlir::MLIRContext context;
  RuleSet rules;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;

private:
  static std::string withoutAttributes(std::string arguments) {
    for (size_t at; (at = arguments.find(" {")) != std::string::npos;)
      arguments.erase(at, arguments.find('}', at) + 1 - at);
    return arguments;
  }
};

using Values = std::map<std::string, std::string>;

inline TrailStep step(const std::string &rule, std::vector<TermId> arguments,
                      std::vector<TermId> before,
                      Values integers = {{"a", "2"}, {"b", "2"}},
                      Values reals = {}) {
  TrailStep made;
  made.rule = rule;
  made.arguments = std::move(arguments);
  made.before = std::move(before);
  made.integers = std::move(integers);
  made.reals = std::move(reals);
  return made;
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// That `said` has `part` in it, and shows what it has where it has not.
#define CHECK_SAYS(said, part)                                                 \
  do {                                                                         \
    const std::string saidHere = (said);                                       \
    INFO(saidHere);                                                            \
    CHECK(mlc::test::contains(saidHere, part));                                \
  } while (false)

} // namespace mlc::test

#endif // MLC_TEST_UNIT_REPLAY_FIXTURE_H
