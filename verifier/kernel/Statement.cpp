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
  std::vector<Need> needed;
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
      for (Need &need : own.needs) {
        need.variables.insert(need.variables.begin(), variables.begin(),
                              variables.end());
        need.guards.insert(need.guards.begin(), ranges.begin(), ranges.end());
        into.push_back(std::move(need));
      }
      return unfolded.value;
    };
    Sum first = one(before, a, definedBefore, needs),
        second = one(after, b, definedAfter, needed);
    result.difference = difference(std::move(first), second);
    result.width = widthOf(x.elementType);
    results.push_back(std::move(result));
  }
  addNeeds(before, definedBefore, needs);
  numGiven = needs.size();
  addNeeds(after, definedAfter, needed);
  llvm::append_range(needs, needed);
}

Context Goals::contextOf(const Need &need) const {
  Context context;
  context.bind(need.variables);
  context.assume(known);
  context.assume(need.guards);
  return context;
}

Checked check(const Statement &original, const StatementProof &proof,
              Decider &decider) {
  auto refused = [](const llvm::Twine &why) {
    return Checked{false, false, why.str()};
  };
  std::optional<Statement> shared;
  if (proof.isShared && !(shared = withSharedStages(original)))
    return refused("the sides compute nothing alike");
  const Statement &statement = shared ? *shared : original;
  Goals goals(statement);
  if (!goals.failure.empty())
    return refused(goals.failure);
  llvm::ArrayRef<Need> needed =
      llvm::ArrayRef(goals.needs).drop_front(goals.numGiven);
  if (proof.needs.size() != needed.size() ||
      proof.results.size() != goals.results.size())
    return refused("the proof is of another statement");
  std::vector<Formula> known = goals.known;
  llvm::append_range(known, statement.given);
  for (const Formula &formula : goals.wellFormed) {
    if (!decider.holds(known, formula))
      return refused("the after side may not be well formed");
    known.push_back(formula);
  }
  // What the after side needs, by what the before side needs.
  Checker first(decider, goals.names, statement.assumptions, goals.given());
  for (auto [need, shown] : llvm::zip(needed, proof.needs))
    if (!first.isShown(need.kind, need.width, goals.contextOf(need), need.value,
                       need.path, shown))
      return refused("the after side may not be defined: " +
                     first.getFailure());
  Checker second(decider, goals.names, statement.assumptions, goals.needs);
  for (auto [result, zero] : llvm::zip(goals.results, proof.results))
    if (!second.isZero(result.context, result.difference, result.width, zero))
      return refused(second.getFailure());
  return {true, !second.cancelsTerms() && !goals.dropsTerms, ""};
}

} // namespace mlc::kernel
