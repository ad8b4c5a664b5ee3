//===- ByKernel.cpp - Proofs that the kernel accepts ----------------------===//

#include "verifier/search/ByKernel.h"
#include "verifier/kernel/CheckStatement.h"
#include "verifier/kernel/Share.h"
#include "verifier/kernel/Text.h"
#include "verifier/read/Reals.h"
#include "verifier/search/Difference.h"
#include "verifier/search/Elaborate.h"
#include "verifier/search/Hasty.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using llvm::ArrayRef;

namespace mlc::verifier {

using Clock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {

/// Looks for proofs of the cases of a goal, within counted work.
class Search {
public:
  Search(const Goal &goal, const Assumptions &assumptions,
         mlir::MLIRContext *context, const VerifierOptions &options)
      : goal(goal), assumptions(assumptions), context(context),
        options(options),
        decider(options.maxLemmaWork / 3, options.maxSolverWork / 10),
        judge(options.maxLemmaWork) {
    judge.onProved = [&](const std::string &script) {
      if (isSeen.insert(script).second)
        obligations.push_back(script);
    };
  }

  /// A proof of every case, accepted by the kernel; floats are compared as bits
  /// or as real numbers.
  std::optional<kernel::Proof> run(bool isLiteral) {
    kernel::Proof proof{isLiteral, {}};
    obligations.clear();
    isSeen.clear();
    keepsTerms = isTwoWay = true;
    for (const Case &one : goal.cases) {
      kernel::Statement statement =
          toStatement(goal, one, assumptions, isLiteral);
      std::optional<kernel::StatementProof> found = prove(statement);
      if (!found)
        return std::nullopt;
      proof.cases.push_back(std::move(*found));
    }
    reason = whyNoCases(goal, judge);
    if (!reason.empty())
      return std::nullopt;
    return proof;
  }

  std::vector<std::string> obligations;
  bool keepsTerms = true, isTwoWay = true;
  std::string reason;
  uint64_t steps = 0;

  const kernel::Decider &getDecider() const { return decider; }

private:
  /// First tries without expanding stages that both sides share: this is quick,
  /// and enough if they differ elsewhere.
  std::optional<kernel::StatementProof>
  prove(const kernel::Statement &statement) {
    if (auto shared = kernel::withSharedStages(statement))
      if (auto proof = prove(statement, *shared, options.maxSteps / 4))
        return proof;
    return prove(statement, statement, options.maxSteps);
  }

  /// `stated`: the statement, or what Share.h makes of it.
  std::optional<kernel::StatementProof>
  prove(const kernel::Statement &statement, const kernel::Statement &stated,
        uint64_t most) {
    std::optional<kernel::StatementProof> proof = search(stated, most);
    if (!proof)
      return std::nullopt;
    proof->isShared = &stated != &statement;
    kernel::Checked checked = kernel::check(statement, *proof, judge);
    keepsTerms &= checked.keepsTerms;
    isTwoWay &= checked.isTwoWay;
    if (checked.isProved)
      return proof;
    reason = checked.failure;
    return std::nullopt;
  }

  std::optional<kernel::StatementProof> search(const kernel::Statement &stated,
                                               uint64_t most) {
    kernel::Goals goals(stated);
    reason = goals.failure;
    if (!reason.empty())
      return std::nullopt;
    if (!isWellFormed(goals, stated))
      return std::nullopt;
    kernel::StatementProof proof;
    auto show = [&](bool inReverse, std::vector<kernel::Shown> &into) {
      uint64_t left = most;
      return goals.showAll(inReverse, [&](ArrayRef<kernel::Need> given,
                                          const kernel::Need &need,
                                          const kernel::Context &where) {
        elaborate::Elaborator elaborator(context, decider, goals.names,
                                         stated.assumptions, given, left);
        std::optional<kernel::Shown> shown = elaborator.show(
            need.kind, need.width, where, need.value, need.path);
        steps += elaborator.getWork();
        left -= std::min(left, elaborator.getWork());
        if (shown)
          into.push_back(std::move(*shown));
        else if (!inReverse)
          reason =
              "after: cannot show that a divisor is not zero, or a root or "
              "logarithm defined: " +
              str(need.value);
        return shown.has_value();
      });
    };
    if (!show(/*inReverse=*/false, proof.needs))
      return std::nullopt;
    for (auto [i, result] : llvm::enumerate(goals.results)) {
      std::vector<kernel::Need> needs = goals.needsOf(result);
      elaborate::Elaborator elaborator(context, decider, goals.names,
                                       stated.assumptions, needs, most);
      std::optional<kernel::Zero> zero =
          elaborator.zero(result.context, result.difference, result.width);
      steps += elaborator.getWork();
      if (!zero) {
        std::string difference = describeDifference(
            stated.before, stated.after, result.difference, goal.argumentNames);
        reason = (describeResult(goal, i) + ": " + elaborator.getFailure() +
                  (difference.empty() ? "" : " (" + difference + ")"));
        if (elaborator.getWork() > most)
          reason = "out of steps: " + reason;
        return std::nullopt;
      }
      proof.results.push_back(std::move(*zero));
    }
    if (std::vector<kernel::Shown> reverse; show(/*inReverse=*/true, reverse))
      proof.reverse = std::move(reverse);
    return proof;
  }

  /// The check of kernel::check, for a message that names what is not well
  /// formed.
  bool isWellFormed(const kernel::Goals &goals,
                    const kernel::Statement &stated) {
    std::vector<kernel::Formula> known = goals.known;
    llvm::append_range(known, stated.given);
    for (auto [formula, message] :
         llvm::zip(goals.wellFormed, goals.messages)) {
      if (!decider.holds(known, formula)) {
        reason = "after: cannot show that " + message;
        return false;
      }
      known.push_back(formula);
    }
    return true;
  }

  const Goal &goal;
  const Assumptions &assumptions;
  mlir::MLIRContext *context;
  const VerifierOptions &options;
  // Most queries of a search do not hold, and a solver is slow on these; those
  // that hold take little work.
  elaborate::HastyDecider decider;
  kernel::Decider judge;
  std::set<std::string> isSeen;
};

bool hasFloats(const Definition &definition) {
  bool found = false;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        found |= mlir::isa<mlir::FloatType>(node.type);
      });
  return found;
}

/// The loops of every sum of floats. The order of a sum is part of its value,
/// so bitwise equal results sum over equal loops. This is a cheap test for
/// inequality.
std::set<std::vector<std::string>> floatSums(const Definition &definition) {
  std::set<std::vector<std::string>> sums;
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        if (node.kind != Expr::Kind::Reduce || node.reduce != ReduceKind::Sum ||
            !mlir::isa<mlir::FloatType>(node.type))
          return;
        std::vector<std::string> extents;
        for (const Loop &loop : node.loops)
          if (!loop.extent.isConstant(1))
            extents.push_back(loop.extent.str());
        llvm::sort(extents);
        sums.insert(std::move(extents));
      });
  return sums;
}

} // namespace

KernelVerdict proveGoal(const Goal &goal, const Assumptions &assumptions,
                        mlir::MLIRContext *context,
                        const VerifierOptions &options) {
  KernelVerdict verdict;
  verdict.reason = goal.failure;
  if (!verdict.reason.empty())
    return verdict;
  auto run = [&](bool isLiteral, const VerifierOptions &limits) {
    Search search(goal, assumptions, context, limits);
    std::optional<kernel::Proof> proof = search.run(isLiteral);
    verdict.isAccepted = proof.has_value();
    verdict.solverMs += search.getDecider().getMs();
    verdict.solverWork += search.getDecider().getWork();
    verdict.numObligations += search.getDecider().getNumAsked();
    verdict.steps += search.steps;
    verdict.reason = proof ? "" : search.reason;
    if (!proof)
      return false;
    verdict.proof = kernel::printProof(*proof);
    verdict.obligations = std::move(search.obligations);
    if (options.onObligation)
      llvm::for_each(verdict.obligations, options.onObligation);
    verdict.floatClass =
        floatClassOf(goal, assumptions, isLiteral, search.keepsTerms);
    verdict.isTwoWay = search.isTwoWay;
    return true;
  };
  // Equal bits imply equal numbers, and are easier to prove.
  VerifierOptions little = options;
  little.maxSteps = std::min<uint64_t>(options.maxSteps, 4000);
  little.maxLemmaWork /= 10;
  if (options.classifyFloats && goal.isLiteral) {
    // Without floats both goals are the same.
    if (!hasFloats(goal.before) && !hasFloats(goal.after)) {
      run(/*isLiteral=*/true, options);
      return verdict;
    }
    const bool addsInOtherOrder =
        llvm::any_of(goal.cases, [&](const Case &one) {
          return kernel::addsInOtherOrder(
              toStatement(goal, one, assumptions, /*isLiteral=*/true));
        });
    if (!addsInOtherOrder && floatSums(goal.before) == floatSums(goal.after) &&
        run(/*isLiteral=*/true, little))
      return verdict;
  }
  // Infinity and empty maxima are no numbers.
  verdict.reason = whyNotReal(goal);
  if (verdict.reason.empty())
    run(/*isLiteral=*/false, options);
  return verdict;
}

static double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

KernelVerdict proveByKernel(mlir::func::FuncOp before, mlir::func::FuncOp after,
                            const Assumptions &assumptions,
                            const VerifierOptions &options) {
  Clock::time_point start = Clock::now();
  KernelVerdict verdict = proveGoal(makeGoal(before, after, assumptions),
                                    assumptions, before.getContext(), options);
  verdict.ms = msSince(start);
  return verdict;
}

} // namespace mlc::verifier
