//===- BudgetTest.cpp - Work is counted, the clock only a safety stop -----===//

#include "Pair.h"

using namespace mlc;
using namespace mlc::test;

namespace {

/// A kernel with zeros around it: many steps.
Verdict enlarge(const VerifierOptions &options) {
  return Pair({"n, g * c, h", "g * o, c, k"}, {"s >= 1", "d >= 1", "g >= 1"})
      .verify([](Side &f) { return f.conv(f[0], f[1], "s", "p, q", "d", "g"); },
              [](Side &f) {
                return f.conv(f[0], f.pad(f[1], "0, 0, e", "0, 0, e"), "s",
                              "p + e * d, q + e * d", "d", "g");
              },
              options);
}

/// Two borders around a kernel, which only the solver tells from more.
Verdict poolTwice(const VerifierOptions &options) {
  return Pair({"n, c, h"}, {"k >= 1", "l >= 1", "s >= 1"})
      .verify(
          [](Side &f) {
            return f.maxPool(f.maxPool(f[0], Side::window("k", "s")),
                             Side::window("l", "1"));
          },
          [](Side &f) {
            return f.maxPool(f.maxPool(f[0], Side::window("k", "s")),
                             Side::window("l + 1", "1"));
          },
          options);
}

VerifierOptions proverOnly() {
  VerifierOptions options;
  options.trialsBefore = options.trialsAfter = 0;
  return options;
}

} // namespace

TEST_CASE("budget: the same proof takes the same work every time") {
  for (auto question : {enlarge, poolTwice}) {
    Verdict first = question(proverOnly()), second = question(proverOnly());
    CHECK(first.kind == second.kind);
    CHECK(first.steps == second.steps);
    CHECK(first.solverWork == second.solverWork);
  }
  CHECK(enlarge(proverOnly()).steps > 0);
  CHECK(poolTwice(proverOnly()).solverWork > 0);
}

TEST_CASE("budget: a proof that has used its steps is unknown") {
  VerifierOptions options = proverOnly();
  REQUIRE(enlarge(options).isProved());
  options.maxSteps = 0;
  Verdict verdict = enlarge(options);
  CHECK(verdict.isUnknown());
  CHECK(llvm::StringRef(verdict.reason).starts_with("out of steps: "));
}

TEST_CASE("budget: the solver stops where its work is used up") {
  VerifierOptions options = proverOnly();
  options.maxSolverWork = 0;
  Verdict verdict = poolTwice(options);
  CHECK(verdict.isUnknown());
  CHECK(verdict.solverWork == 0);
}
