//===- Verifier.cpp - Are two functions equal, for all sizes? -------------===//

#include "verifier/Verifier.h"
#include "dialects/Evaluator/Evaluator.h"
#include "verifier/search/ByKernel.h"
#include "verifier/search/Counterexample.h"
#include "verifier/search/Solver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <cmath>

using llvm::ArrayRef;

namespace mlc {

using namespace verifier;

llvm::StringRef name(Verdict::Kind kind) {
  static constexpr const char *names[] = {"proved", "refuted", "unknown"};
  return names[static_cast<unsigned>(kind)];
}

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// Whether one of the cases may be entered.
bool canBeEntered(const Goal &goal, const VerifierOptions &options) {
  Solver solver(options);
  return llvm::any_of(goal.cases, [&](const Case &one) {
    std::vector<Formula> guards;
    for (const Guard &guard : one.guards)
      guards.push_back(Formula::guard(guard));
    return solver.isSatisfiable(Formula::allOf(std::move(guards)));
  });
}

Certificate certificateOf(llvm::StringRef title, KernelVerdict proof) {
  Certificate certificate;
  certificate.proof = std::move(proof.proof);
  llvm::raw_string_ostream os(certificate.smtlib);
  os << "; ";
  llvm::printEscapedString(title, os);
  os << "\n; every (check-sat) must answer unsat\n(set-logic ALL)\n";
  for (const std::string &obligation : proof.obligations)
    certificate.add("obligation", obligation);
  return certificate;
}

} // namespace

Verdict verifier::answer(const Goal &goal, const Assumptions &assumptions,
                         mlir::MLIRContext *context, llvm::StringRef title,
                         const VerifierOptions &options,
                         Clock::time_point start) {
  Verdict verdict;
  auto done = [&](Verdict::Kind kind) {
    verdict.kind = kind;
    verdict.totalMs = msSince(start);
    return verdict;
  };
  auto unknown = [&](const std::string &reason) {
    verdict.reason = reason;
    return done(Verdict::Kind::Unknown);
  };
  if (!goal.failure.empty())
    return unknown(goal.failure);

  if (!isSatisfiable(assumptions.reals, goal.parameters))
    return unknown("no value of a real parameter satisfies the condition, so "
                   "the rule says nothing");

  bool sawInstance = false;
  auto refute = [&](uint64_t seed, unsigned trials) {
    std::optional<Counterexample> found =
        findCounterexample(goal, assumptions, seed, trials,
                           options.minimizeCounterexample, sawInstance);
    if (found)
      verdict.counterexample = std::move(*found);
    return found.has_value();
  };
  if (refute(options.seed, options.trialsBefore))
    return done(Verdict::Kind::Refuted);

  KernelVerdict proof = proveGoal(goal, assumptions, context, options);
  verdict.solverMs = proof.solverMs;
  verdict.solverWork = proof.solverWork;
  verdict.steps = proof.steps;
  if (!proof.isAccepted) {
    if (refute(options.seed + 1, options.trialsAfter))
      return done(Verdict::Kind::Refuted);
    return unknown(proof.reason);
  }
  if (!sawInstance && !canBeEntered(goal, options))
    return unknown("the condition cannot be satisfied, so the rule says "
                   "nothing");
  verdict.floatClass = proof.floatClass;
  verdict.isTwoWay = proof.isTwoWay;
  verdict.certificate = certificateOf(title, std::move(proof));
  return done(Verdict::Kind::Proved);
}

Verdict verify(mlir::func::FuncOp before, mlir::func::FuncOp after,
               const Assumptions &assumptions, const VerifierOptions &options) {
  Clock::time_point start = Clock::now();
  // Functions that use only linalg may not have loaded it.
  before.getContext()->loadDialect<MlcDialect>();
  return answer(
      makeGoal(before, after, assumptions), assumptions, before.getContext(),
      (before.getName() + " = " + after.getName()).str(), options, start);
}

} // namespace mlc
