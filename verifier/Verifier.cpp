//===- Verifier.cpp - Are two functions equal, for all sizes? -------------===//

#include "verifier/Verifier.h"
#include "dialects/Interfaces/Evaluator.h"
#include "verifier/Difference.h"
#include "verifier/Equality.h"
#include "verifier/Question.h"
#include "verifier/Reals.h"
#include "verifier/Share.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cmath>
#include <set>

using llvm::ArrayRef;

namespace mlc {

using namespace verifier;

Normalizer::Settings verifier::settingsOf(const Question &question,
                                          const Assumptions &assumptions,
                                          bool strict) {
  Normalizer::Settings settings;
  settings.strict = strict;
  settings.inputs.resize(question.before.inputs.size());
  for (auto [facts, input] : llvm::zip(settings.inputs, question.before.inputs))
    facts.type = input.elementType;
  for (const TensorAssumption &t : assumptions.tensors) {
    if (t.argument >= settings.inputs.size())
      continue;
    ValueFacts &facts = settings.inputs[t.argument];
    switch (t.predicate) {
    case ElementPredicate::Positive:
      facts.positive = facts.nonNegative = facts.nonZero = true;
      break;
    case ElementPredicate::NonNegative:
      facts.nonNegative = true;
      break;
    case ElementPredicate::NonZero:
      facts.nonZero = true;
      break;
    case ElementPredicate::AllEqual:
      facts.allEqual = true;
      break;
    case ElementPredicate::Finite:
    case ElementPredicate::Constant:
      break;
    }
  }
  for (const RealAssumption &r : assumptions.reals) {
    ValueFacts &facts = settings.reals[r.parameter];
    bool above = r.predicate == ComparePredicate::GT;
    if (above || r.predicate == ComparePredicate::GE) {
      facts.positive |= above ? r.bound >= 0.0 : r.bound > 0.0;
      facts.nonNegative |= r.bound >= 0.0;
    }
    facts.nonZero |= facts.positive ||
                     (r.predicate == ComparePredicate::NE && r.bound == 0.0);
  }
  return settings;
}

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// One attempt at one case.
class CaseProof {
public:
  CaseProof(const Case &question, Normalizer &normalizer, Solver &solver)
      : question(question), n(normalizer), prover(normalizer, solver) {
    for (const Guard &guard : question.guards)
      facts.add(guard);
  }

  bool run(bool strict) {
    return (strict || (requirementsHold() && needsHold() && shapesAgree())) &&
           valuesAgree() && (strict || isDefined());
  }
  std::string reason;

private:
  bool fail(const llvm::Twine &text) {
    if (reason.empty())
      reason = text.str();
    return false;
  }

  /// Well-formed before, so well-formed after.
  bool requirementsHold() {
    for (const Requirement &r : question.after.requirements) {
      Guard guard = guardOf(r.lhs, r.predicate, r.rhs);
      if (!prover.holds(guard, facts, "the after side is well formed"))
        return fail("after: cannot show that " + r.message + " (" +
                    r.lhs.str() + " " + name(r.predicate) + " " + r.rhs.str() +
                    ")");
      facts.add(guard);
    }
    return true;
  }

  /// What the after side needs follows from what is required, and from what
  /// the before side needs. That helps nowhere else and would be in the way.
  bool needsHold() {
    KnownNeeds known(question.beforeNeeds, n.integer(0));
    for (const Need &need : question.afterNeeds) {
      Facts inside = known.wherever(facts.with(need.given));
      if (!known.contains(need, inside) &&
          !prover.holdsAny(need.anyOf, inside, "the after side is well formed"))
        return fail("after: cannot show that " + need.message);
    }
    return true;
  }

  bool shapesAgree() {
    for (size_t i = 0; i < question.before.results.size(); ++i) {
      TensorShape a = question.before.shapeOf(
                      {true, question.before.results[i]}),
                  b = question.after.shapeOf({true, question.after.results[i]});
      for (auto [d, pair] : llvm::enumerate(llvm::zip(a.dims, b.dims))) {
        auto [x, y] = pair;
        if (!prover.holds(Guard::zero(x - y), facts, "result dims agree"))
          return fail("cannot show that dim " + llvm::Twine(d) + " of result " +
                      llvm::Twine(i) + " is the same: " + x.str() + " and " +
                      y.str());
      }
    }
    return true;
  }

  bool valuesAgree() {
    for (unsigned i = 0; i < question.before.results.size(); ++i) {
      Facts inside = facts;
      llvm::SmallVector<IntExpr> indices;
      for (IntExpr dim :
           question.before.shapeOf({true, question.before.results[i]}).dims) {
        indices.push_back(n.freshVariable());
        inside.add(Guard::less(indices.back(), dim));
      }
      Expander before(question.before, n, Side::Given),
          after(question.after, n, Side::ToShow);
      Sum a = before.expandResult(i, indices, inside);
      Sum b = after.expandResult(i, indices, inside);
      for (const Expander *side : {&before, &after})
        if (!side->getFailure().empty())
          return fail(side->getFailure());
      if (!prover.equalForAll(a, b, inside, indices)) {
        std::string difference = describeDifference(
            {question.before, a}, {question.after, b}, question.argumentNames);
        return fail("result " + llvm::Twine(i) + ": " + prover.getFailure() +
                    (difference.empty() ? "" : " (" + difference + ")"));
      }
      collect(before.getObligations(), indices, known);
      collect(after.getObligations(), indices, needed);
    }
    return true;
  }

  /// Obligations for every element: the result's indices become variables.
  static void collect(ArrayRef<Obligation> obligations,
                      ArrayRef<IntExpr> indices, std::vector<Obligation> &out) {
    for (Obligation o : obligations) {
      o.domain.variables.insert(o.domain.variables.begin(), indices.begin(),
                                indices.end());
      out.push_back(std::move(o));
    }
  }

  /// A division of integers by 0 leaves nothing defined, whether a result reads
  /// its stage or not.
  bool collectUnread(const Definition &definition, Side side,
                     std::vector<Obligation> &out) {
    for (unsigned s = 0; s < definition.stages.size(); ++s) {
      const Stage &stage = definition.stages[s];
      if (!dividesIntegers(stage))
        continue;
      Facts inside = facts;
      llvm::SmallVector<IntExpr> indices;
      for (IntExpr dim : stage.dims) {
        indices.push_back(n.freshVariable());
        inside.add(Guard::less(indices.back(), dim));
      }
      Expander elements(definition, n, side);
      elements.expandStage(s, indices, inside);
      if (!elements.getFailure().empty())
        return fail(elements.getFailure());
      // Of other functions nobody asks what nobody reads.
      std::vector<Obligation> divisors;
      for (const Obligation &o : elements.getObligations())
        if (o.kind == Obligation::Kind::NonZero &&
            mlir::isa<mlir::IntegerType>(o.type))
          divisors.push_back(o);
      collect(divisors, indices, out);
    }
    return true;
  }

  static bool dividesIntegers(const Stage &stage) {
    bool found = false;
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        found |= node.kind == Expr::Kind::Binary &&
                 llvm::is_contained(
                     {BinaryFn::Div, BinaryFn::FloorDiv, BinaryFn::Mod},
                     node.binary) &&
                 mlir::isa<mlir::IntegerType>(node.type);
      });
    return found;
  }

  /// Divisors, roots and logarithms of the after side are fine where those of
  /// the before side are.
  bool isDefined() {
    if (!collectUnread(question.before, Side::Given, known) ||
        !collectUnread(question.after, Side::ToShow, needed))
      return false;
    for (const Obligation &o : needed)
      if (!prover.holds(o, known, facts))
        return fail("after: cannot show that a divisor is not zero, or a root "
                    "or logarithm defined: " +
                    str(o.value));
    return true;
  }

  const Case &question;
  Normalizer &n;
  Prover prover;
  Facts facts;
  std::vector<Obligation> known, needed;
};

struct Attempt {
  bool isProved;
  unsigned numCancelled;
  std::string reason;
};

Attempt attempt(const Case &question, const Normalizer::Settings &settings,
                mlir::MLIRContext *context, Budget &budget, Solver &solver) {
  Normalizer normalizer(context, settings, budget);
  CaseProof proof(question, normalizer, solver);
  // Arithmetic past its budget gives nothing, which must not look like 0.
  bool isProved = proof.run(settings.strict) && !budget.exceeded;
  return {isProved, normalizer.numCancelled,
          budget.exceeded ? budget.reason() : proof.reason};
}

/// What both sides compute alike is not looked into first: that is quick, and
/// enough where they differ elsewhere.
Attempt prove(const Case &question, const Normalizer::Settings &settings,
              mlir::MLIRContext *context, Budget &budget, Solver &solver) {
  if (std::optional<SharedQuestion> shared = withSharedStages(question)) {
    Normalizer::Settings more = settings;
    more.inputs.resize(shared->isPartial.size());
    for (auto [facts, isPartial] : llvm::zip(more.inputs, shared->isPartial))
      facts.isPartial = isPartial;
    Budget part = budget;
    part.stepsLeft /= 4;
    uint64_t given = part.stepsLeft;
    Attempt quick = attempt(shared->question, more, context, part, solver);
    budget.stepsLeft -= given - part.stepsLeft;
    budget.numSearched = part.numSearched;
    if (quick.isProved)
      return quick;
  }
  return attempt(question, settings, context, budget, solver);
}

/// What may hide a term that is 0 or not, counted: padding, masks, selections
/// and exponentials of sums. Where the counts differ, a product with 0 or an
/// overflow may have come or gone.
std::array<unsigned, 4> countMasks(const Definition &definition) {
  std::array<unsigned, 4> counts{};
  for (const Stage &stage : definition.stages)
    for (const Piece &piece : stage.pieces)
      walk(piece.body, [&](const ExprNode &node) {
        bool isFloat = mlir::isa<mlir::FloatType>(node.type);
        counts[0] += node.kind == Expr::Kind::Read && node.guarded;
        counts[1] += node.kind == Expr::Kind::Select && isFloat;
        counts[2] += node.kind == Expr::Kind::Cast && isFloat &&
                     node.operands[0]->type.isInteger(1);
        counts[3] +=
            node.kind == Expr::Kind::Unary && node.unary == UnaryFn::Exp;
      });
  return counts;
}

/// The loops of every sum of floats. Its order is part of the value, so results
/// that are equal bit by bit add over equal loops; a cheap way to see that they
/// are not.
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

/// Every case; sets `isSatisfiable` where one of them may be entered.
Attempt proveCases(const Question &question, const Assumptions &assumptions,
                   mlir::MLIRContext *context, Budget &budget, Solver &solver,
                   bool &isSatisfiable) {
  Attempt all{true, 0, ""};
  for (const Case &one : question.cases) {
    std::vector<Formula> guards;
    for (const Guard &guard : one.guards)
      guards.push_back(Formula::guard(guard));
    isSatisfiable = isSatisfiable ||
                    solver.isSatisfiable(Formula::allOf(std::move(guards)));
    Attempt attempt = prove(one, settingsOf(question, assumptions, false),
                            context, budget, solver);
    all.numCancelled += attempt.numCancelled;
    if (attempt.isProved)
      continue;
    all.isProved = false;
    all.reason = attempt.reason;
    if (solver.wasStoppedByClock())
      all.reason = "stopped by the clock: " + all.reason;
    break;
  }
  return all;
}

/// Whether a little work proves equal results bit by bit.
bool isBitExact(const Question &question, const Assumptions &assumptions,
                mlir::MLIRContext *context, const VerifierOptions &options,
                Clock::time_point start) {
  if (!question.isLiteral ||
      floatSums(question.before) != floatSums(question.after))
    return false;
  VerifierOptions little = options;
  little.maxSteps = std::min<uint64_t>(options.maxSteps, 4000);
  little.maxLemmaWork /= 10;
  Solver solver(little);
  Budget budget(little, start);
  return llvm::all_of(question.cases, [&](const Case &one) {
    return prove(one, settingsOf(question, assumptions, true), context, budget,
                 solver)
        .isProved;
  });
}

std::string headerOf(mlir::func::FuncOp before, mlir::func::FuncOp after) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "; ";
  llvm::printEscapedString(before.getName(), os);
  os << " = ";
  llvm::printEscapedString(after.getName(), os);
  os << "\n; every (check-sat) must answer unsat\n(set-logic ALL)\n";
  return text;
}

} // namespace

Verdict verify(mlir::func::FuncOp before, mlir::func::FuncOp after,
               const Assumptions &assumptions, const VerifierOptions &options) {
  Clock::time_point start = Clock::now();
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
  // Functions of linalg alone need not have loaded it.
  before.getContext()->loadDialect<MlcDialect>();
  Question question = makeQuestion(before, after, assumptions);
  if (!question.failure.empty())
    return unknown(question.failure);

  if (!isSatisfiable(assumptions.reals, question.parameters))
    return unknown("no value of a real parameter satisfies the condition, so "
                   "the rule says nothing");

  bool sawInstance = false;
  auto refute = [&](uint64_t seed, unsigned trials) {
    std::optional<Counterexample> found =
        findCounterexample(question, assumptions, seed, trials,
                           options.minimizeCounterexample, sawInstance);
    if (found)
      verdict.counterexample = std::move(*found);
    return found.has_value();
  };
  if (refute(options.seed, options.trialsBefore))
    return done(Verdict::Kind::Refuted);

  Budget budget(options, start);
  Solver solver(options);
  mlir::MLIRContext *context = before.getContext();
  bool isSatisfiable = sawInstance;
  Attempt attempt =
      proveCases(question, assumptions, context, budget, solver, isSatisfiable);
  verdict.reason = attempt.reason;
  verdict.solverMs = solver.getMs();
  verdict.solverWork = solver.getWork();
  verdict.steps = options.maxSteps - budget.stepsLeft;
  if (attempt.isProved && !isSatisfiable)
    return unknown("the condition cannot be satisfied, so the rule says "
                   "nothing");
  if (!attempt.isProved) {
    if (refute(options.seed + 1, options.trialsAfter))
      return done(Verdict::Kind::Refuted);
    return unknown(attempt.reason);
  }
  verdict.certificate.smtlib = headerOf(before, after) + solver.getScript();
  verdict.certificate.numLemmas = solver.getNumLemmas();
  if (attempt.numCancelled == 0 &&
      countMasks(question.before) == countMasks(question.after))
    verdict.floatClass = FloatClass::Reassociating;
  if (options.classifyFloats &&
      isBitExact(question, assumptions, context, options, start))
    verdict.floatClass = FloatClass::BitExact;
  if (verdict.floatClass != FloatClass::BitExact)
    if (std::string why = whyNotReal(question); !why.empty()) {
      if (refute(options.seed + 1, options.trialsAfter))
        return done(Verdict::Kind::Refuted);
      return unknown(why);
    }
  return done(Verdict::Kind::Proved);
}

} // namespace mlc
