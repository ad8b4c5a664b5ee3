//===- ByKernel.cpp - Proofs that the kernel accepts ----------------------===//

#include "verifier/ByKernel.h"
#include "verifier/Elaborate.h"
#include "verifier/Question.h"
#include "verifier/Reals.h"
#include "verifier/kernel/Text.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>

using llvm::ArrayRef;

namespace mlc::verifier {

static kernel::Formula toFormula(const Guard &guard) {
  kernel::Integer integer = kernel::integerOf(guard.expr);
  switch (guard.kind) {
  case Guard::Kind::NonNegative:
    return kernel::Formula::notNegative(integer);
  case Guard::Kind::Zero:
    return kernel::Formula::zero(integer);
  case Guard::Kind::NonZero:
    return kernel::Formula::negation(kernel::Formula::zero(integer));
  }
  llvm_unreachable("unknown guard");
}

static kernel::Formula toFormula(const Need &need) {
  std::vector<kernel::Formula> any;
  for (const Guard &guard : need.anyOf)
    any.push_back(toFormula(guard));
  for (const Guard &guard : need.given)
    any.push_back(kernel::Formula::negation(toFormula(guard)));
  return kernel::Formula::any(std::move(any));
}

static kernel::Assumed toAssumed(const ValueFacts &facts) {
  return {facts.positive, facts.nonNegative, facts.nonZero, facts.allEqual,
          facts.type ? kernel::widthOf(facts.type) : 0};
}

static kernel::Statement toStatement(const Question &question, const Case &one,
                                     const Assumptions &assumptions) {
  kernel::Statement statement{one.before, one.after, {}, {}, {}, {}};
  for (const Guard &guard : one.guards)
    statement.known.push_back(toFormula(guard));
  for (const Need &need : one.beforeNeeds)
    statement.given.push_back(toFormula(need));
  for (const Need &need : one.afterNeeds)
    statement.required.push_back(toFormula(need));
  Normalizer::Settings settings = settingsOf(question, assumptions, false);
  for (const ValueFacts &facts : settings.inputs)
    statement.assumptions.inputs.push_back(toAssumed(facts));
  for (const auto &[name, facts] : settings.reals)
    statement.assumptions.parameters[name] = toAssumed(facts);
  return statement;
}

/// Looks for a proof of a statement.
static std::optional<kernel::StatementProof>
findProof(const kernel::Statement &statement, mlir::MLIRContext *mlir,
          kernel::Decider &decider, uint64_t maxWork, std::string &reason) {
  kernel::Goals goals(statement);
  reason = goals.failure;
  if (!reason.empty())
    return std::nullopt;
  kernel::StatementProof proof;
  elaborate::Elaborator first(mlir, decider, goals.names, statement.assumptions,
                              goals.given(), maxWork);
  for (const kernel::Need &need :
       ArrayRef(goals.needs).drop_front(goals.numGiven)) {
    std::optional<kernel::Shown> shown = first.show(
        need.kind, need.width, goals.contextOf(need), need.value, need.path);
    if (!shown) {
      reason = "after: cannot show that a divisor is not zero, or a root or "
               "logarithm defined: " +
               str(need.value);
      return std::nullopt;
    }
    proof.needs.push_back(std::move(*shown));
  }
  for (const kernel::Goals::Result &result : goals.results) {
    elaborate::Elaborator elaborator(mlir, decider, goals.names,
                                     statement.assumptions, goals.needs,
                                     maxWork);
    std::optional<kernel::Zero> zero =
        elaborator.zero(result.context, result.difference, result.width);
    if (!zero) {
      reason = elaborator.getFailure();
      return std::nullopt;
    }
    proof.results.push_back(std::move(*zero));
  }
  return proof;
}

using Clock = std::chrono::steady_clock;

/// What `judge` makes of every case of a question.
static KernelVerdict
judgeCases(mlir::func::FuncOp before, mlir::func::FuncOp after,
           const Assumptions &assumptions, const VerifierOptions &options,
           llvm::function_ref<bool(llvm::ArrayRef<kernel::Statement>,
                                   kernel::Decider &, KernelVerdict &)>
               judge) {
  Clock::time_point start = Clock::now();
  KernelVerdict verdict;
  // Functions of linalg alone need not have loaded it.
  before.getContext()->loadDialect<MlcDialect>();
  Question question = makeQuestion(before, after, assumptions);
  verdict.reason = question.failure;
  // Infinity and maxima of nothing are no numbers.
  if (verdict.reason.empty())
    verdict.reason = whyNotReal(question);
  kernel::Decider decider(options.maxLemmaWork);
  decider.onProved = options.onObligation;
  if (verdict.reason.empty()) {
    std::vector<kernel::Statement> statements;
    for (const Case &one : question.cases)
      statements.push_back(toStatement(question, one, assumptions));
    verdict.isAccepted = judge(statements, decider, verdict);
  }
  verdict.numObligations = decider.getNumAsked();
  verdict.ms =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return verdict;
}

KernelVerdict proveByKernel(mlir::func::FuncOp before, mlir::func::FuncOp after,
                            const Assumptions &assumptions,
                            const VerifierOptions &options) {
  return judgeCases(before, after, assumptions, options,
                    [&](ArrayRef<kernel::Statement> statements,
                        kernel::Decider &decider, KernelVerdict &verdict) {
                      std::vector<kernel::StatementProof> proofs;
                      for (const kernel::Statement &statement : statements) {
                        std::optional<kernel::StatementProof> proof =
                            findProof(statement, before.getContext(), decider,
                                      options.maxSteps, verdict.reason);
                        if (!proof || !kernel::check(statement, *proof, decider,
                                                     verdict.reason))
                          return false;
                        proofs.push_back(std::move(*proof));
                      }
                      verdict.proof = kernel::printProof(proofs);
                      return true;
                    });
}

KernelVerdict checkByKernel(mlir::func::FuncOp before, mlir::func::FuncOp after,
                            const Assumptions &assumptions,
                            llvm::StringRef text,
                            const VerifierOptions &options) {
  return judgeCases(
      before, after, assumptions, options,
      [&](ArrayRef<kernel::Statement> statements, kernel::Decider &decider,
          KernelVerdict &verdict) {
        auto proofs = kernel::parseProof(text, verdict.reason);
        if (proofs && proofs->size() != statements.size())
          verdict.reason = "the proof is of another statement";
        return proofs && verdict.reason.empty() &&
               llvm::all_of(llvm::zip(statements, *proofs), [&](auto pair) {
                 auto &[statement, proof] = pair;
                 return kernel::check(statement, proof, decider,
                                      verdict.reason);
               });
      });
}

} // namespace mlc::verifier
