//===- Statement.cpp - What a proof is of ---------------------------------===//

#include "verifier/kernel/Statement.h"
#include "verifier/kernel/Share.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::kernel {

Formula formulaOf(IntExpr lhs, ComparePredicate predicate, IntExpr rhs) {
  Integer a = integerOf(lhs), b = integerOf(rhs);
  switch (predicate) {
  case ComparePredicate::EQ:
    return Formula::equal(a, b);
  case ComparePredicate::NE:
    return Formula::negation(Formula::equal(a, b));
  case ComparePredicate::LT:
    return Formula::less(a, b);
  case ComparePredicate::LE:
    return Formula::notNegative(b - a);
  case ComparePredicate::GT:
    return Formula::less(b, a);
  case ComparePredicate::GE:
    return Formula::notNegative(a - b);
  }
  llvm_unreachable("unknown predicate");
}

/// Integers have no quotient by 0, whether somebody reads it or not.
static bool dividesIntegers(const Stage &stage) {
  bool found = false;
  for (const Piece &piece : stage.pieces)
    walk(piece.body, [&](const ExprNode &node) {
      bool isQuotient =
          node.kind == Expr::Kind::Binary &&
          (node.binary == BinaryFn::Div || node.binary == BinaryFn::FloorDiv ||
           node.binary == BinaryFn::Mod);
      found |= isQuotient && widthOf(node.type) > 0;
    });
  return found;
}

/// What must hold though no result reads it.
void Goals::addNeeds(const Definition &side, Definedness &defined,
                     std::vector<Need> &into) {
  for (unsigned s = 0; s < side.stages.size(); ++s) {
    if (!dividesIntegers(side.stages[s]))
      continue;
    std::vector<Variable> variables;
    std::vector<Formula> ranges;
    std::vector<Integer> indices;
    for (IntExpr dim : side.stages[s].dims) {
      variables.push_back(names.fresh());
      indices.push_back(Integer::variable(variables.back()));
      ranges.push_back(Formula::inRange(indices.back(), integerOf(dim)));
    }
    Needs own = defined.needsOf(s, indices);
    if (failure.empty())
      failure = own.failure;
    for (Need &need : own.needs) {
      // Of other functions nobody asks what nobody reads.
      if (need.kind != Need::Kind::NotZero || need.width == 0)
        continue;
      need.variables.insert(need.variables.begin(), variables.begin(),
                            variables.end());
      need.guards.insert(need.guards.begin(), ranges.begin(), ranges.end());
      into.push_back(std::move(need));
    }
  }
}

Goals::Goals(const Statement &statement) {
  const Definition &before = statement.before, &after = statement.after;
  known = statement.known;
  wellFormed = statement.required;
  messages = statement.messages;
  for (const Requirement &r : after.requirements) {
    wellFormed.push_back(formulaOf(r.lhs, r.predicate, r.rhs));
    messages.push_back(r.message + " (" + r.lhs.str() + " " +
                       name(r.predicate).str() + " " + r.rhs.str() + ")");
  }
  if (before.results.size() != after.results.size() ||
      before.inputs.size() != after.inputs.size()) {
    failure = "the functions have different results or inputs";
    return;
  }
  Definedness definedBefore(before, statement.assumptions, names),
      definedAfter(after, statement.assumptions, names);
  for (auto [a, b] : llvm::zip(before.results, after.results)) {
    TensorShape x = before.shapeOf({true, a}), y = after.shapeOf({true, b});
    if (x.elementType != y.elementType || x.dims.size() != y.dims.size()) {
      failure = "results are of different types";
      return;
    }
    Result result;
    std::vector<Variable> variables;
    std::vector<Formula> ranges;
    for (auto [d, pair] : llvm::enumerate(llvm::zip(x.dims, y.dims))) {
      auto [m, n] = pair;
      wellFormed.push_back(Formula::equal(integerOf(m), integerOf(n)));
      messages.push_back("dim " + std::to_string(d) + " of result " +
                         std::to_string(results.size()) +
                         " is the same: " + m.str() + " and " + n.str());
      variables.push_back(names.fresh());
      ranges.push_back(
          Formula::inRange(Integer::variable(variables.back()), integerOf(m)));
    }
    result.context.bind(variables);
    result.context.assume(known);
    result.context.assume(ranges);
    auto one = [&](const Definition &side, unsigned stage, Definedness &defined,
                   std::vector<Need> &into) {
      Unfolded unfolded = unfold(side, statement.assumptions, stage,
                                 result.context.scope, names);
      Needs own = defined.needsOf(stage, result.context.scope);
      if (failure.empty())
        failure = unfolded.failure.empty() ? own.failure : unfolded.failure;
      dropsTerms |= unfolded.dropsTerms;
      into = std::move(own.needs);
      return unfolded.value;
    };
    Sum first = one(before, a, definedBefore, result.given),
        second = one(after, b, definedAfter, result.needed);
    result.difference = difference(std::move(first), second);
    result.width = widthOf(x.elementType);
    results.push_back(std::move(result));
  }
  addNeeds(before, definedBefore, given);
  addNeeds(after, definedAfter, needed);
}

static std::vector<Need> both(llvm::ArrayRef<Need> first,
                              llvm::ArrayRef<Need> second) {
  std::vector<Need> all = first;
  llvm::append_range(all, second);
  return all;
}

bool Goals::showAll(bool inReverse, Show show) const {
  auto showEach = [&](Context context, llvm::ArrayRef<Need> wanted,
                      llvm::ArrayRef<Need> by) {
    return llvm::all_of(wanted, [&](const Need &need) {
      Context inside = context;
      inside.bind(need.variables);
      inside.assume(need.guards);
      return show(by, need, inside);
    });
  };
  for (const Result &result : results) {
    const auto &[wanted, by] = inReverse
                                   ? std::tie(result.given, result.needed)
                                   : std::tie(result.needed, result.given);
    if (!showEach(result.context, wanted, both(by, inReverse ? needed : given)))
      return false;
  }
  Context context;
  context.assume(known);
  return inReverse ? showEach(context, given, needed)
                   : showEach(context, needed, given);
}

std::vector<Need> Goals::needsOf(const Result &result) const {
  return both(both(result.given, result.needed), both(given, needed));
}

size_t Goals::count(bool inReverse) const {
  size_t number = inReverse ? given.size() : needed.size();
  for (const Result &result : results)
    number += inReverse ? result.given.size() : result.needed.size();
  return number;
}

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
