//===- CheckStatement.cpp - Whether a proof is one of a statement ---------===//

#include "verifier/kernel/CheckStatement.h"
#include "verifier/kernel/Share.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::kernel {

/// Whether each need of a side is shown by the other's, as `proof` says.
static bool areShown(const Goals &goals, bool inReverse,
                     llvm::ArrayRef<Shown> proof, Names &names,
                     const Assumptions &assumptions, Decider &decider,
                     std::string &failure) {
  const Shown *next = proof.begin();
  return goals.showAll(inReverse,
                       [&](llvm::ArrayRef<Need> given, const Need &need,
                           const Context &context) {
                         Checker checker(decider, names, assumptions, given);
                         if (checker.isShown(need.kind, need.width, context,
                                             need.value, need.path, *next++))
                           return true;
                         failure = checker.getFailure();
                         return false;
                       });
}

Checked check(const Statement &original, const StatementProof &proof,
              Decider &decider) {
  auto refused = [](const llvm::Twine &why) {
    return Checked{.failure = why.str()};
  };
  std::optional<Statement> shared;
  if (proof.isShared && !(shared = withSharedStages(original)))
    return refused("the sides compute nothing alike");
  const Statement &statement = shared ? *shared : original;
  Goals goals(statement);
  if (!goals.failure.empty())
    return refused(goals.failure);
  if (proof.needs.size() != goals.count(/*inReverse=*/false) ||
      proof.results.size() != goals.results.size() ||
      (proof.reverse &&
       proof.reverse->size() != goals.count(/*inReverse=*/true)))
    return refused("the proof is of another statement");
  std::vector<Formula> known = goals.known;
  llvm::append_range(known, statement.given);
  for (const Formula &formula : goals.wellFormed) {
    if (!decider.holds(known, formula))
      return refused("the after side may not be well formed");
    known.push_back(formula);
  }
  std::string failure;
  auto shows = [&](bool inReverse, llvm::ArrayRef<Shown> by) {
    return areShown(goals, inReverse, by, goals.names, statement.assumptions,
                    decider, failure);
  };
  if (!shows(/*inReverse=*/false, proof.needs))
    return refused("the after side may not be defined: " + failure);
  bool cancels = false;
  for (auto [result, zero] : llvm::zip(goals.results, proof.results)) {
    std::vector<Need> needs = goals.needsOf(result);
    Checker checker(decider, goals.names, statement.assumptions, needs);
    if (!checker.isZero(result.context, result.difference, result.width, zero))
      return refused(checker.getFailure());
    cancels |= checker.cancelsTerms();
  }
  if (proof.reverse && !shows(/*inReverse=*/true, *proof.reverse))
    return refused("the before side may not be defined: " + failure);
  return {.isProved = true,
          .isTwoWay =
              proof.reverse.has_value() || goals.count(/*inReverse=*/true) == 0,
          .keepsTerms = !cancels && !goals.dropsTerms};
}

} // namespace mlc::kernel
