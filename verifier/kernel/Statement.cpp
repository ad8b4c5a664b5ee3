//===- Statement.cpp - What a proof is of ---------------------------------===//

#include "verifier/kernel/Statement.h"
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

/// What must hold for a stage to be defined, which no result need read.
void Goals::addNeeds(const Statement &statement, const Definition &side) {
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
    Unfolded unfolded = unfold(side, statement.assumptions, s, indices, names);
    if (failure.empty())
      failure = unfolded.failure;
    for (Need &need : unfolded.needs) {
      // Of other functions nobody asks what nobody reads.
      if (need.kind != Need::Kind::NotZero || need.width == 0)
        continue;
      need.variables.insert(need.variables.begin(), variables.begin(),
                            variables.end());
      need.guards.insert(need.guards.begin(), ranges.begin(), ranges.end());
      needs.push_back(std::move(need));
    }
  }
}

Goals::Goals(const Statement &statement) {
  const Definition &before = statement.before, &after = statement.after;
  known = statement.known;
  wellFormed = statement.required;
  for (const Requirement &r : after.requirements)
    wellFormed.push_back(formulaOf(r.lhs, r.predicate, r.rhs));
  if (before.results.size() != after.results.size() ||
      before.inputs.size() != after.inputs.size()) {
    failure = "the functions have different results or inputs";
    return;
  }
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
    for (auto [m, n] : llvm::zip(x.dims, y.dims)) {
      wellFormed.push_back(Formula::equal(integerOf(m), integerOf(n)));
      variables.push_back(names.fresh());
      ranges.push_back(
          Formula::inRange(Integer::variable(variables.back()), integerOf(m)));
    }
    result.context.bind(variables);
    result.context.assume(known);
    result.context.assume(ranges);
    auto one = [&](const Definition &side, unsigned stage,
                   std::vector<Need> &into) {
      Unfolded unfolded = unfold(side, statement.assumptions, stage,
                                 result.context.scope, names);
      if (failure.empty())
        failure = unfolded.failure;
      for (Need &need : unfolded.needs) {
        need.variables.insert(need.variables.begin(), variables.begin(),
                              variables.end());
        need.guards.insert(need.guards.begin(), ranges.begin(), ranges.end());
        into.push_back(std::move(need));
      }
      return unfolded.value;
    };
    Sum first = one(before, a, needs), second = one(after, b, needed);
    result.difference = add(std::move(first), scaled(second, Rational(-1)));
    result.width = widthOf(x.elementType);
    results.push_back(std::move(result));
  }
  addNeeds(statement, before);
  numGiven = needs.size();
  llvm::append_range(needs, needed);
  addNeeds(statement, after);
}

Context Goals::contextOf(const Need &need) const {
  Context context;
  context.bind(need.variables);
  context.assume(known);
  context.assume(need.guards);
  return context;
}

bool check(const Statement &statement, const StatementProof &proof,
           Decider &decider, std::string &failure) {
  Goals goals(statement);
  failure = goals.failure;
  if (!failure.empty())
    return false;
  llvm::ArrayRef<Need> needed =
      llvm::ArrayRef(goals.needs).drop_front(goals.numGiven);
  if (proof.needs.size() != needed.size() ||
      proof.results.size() != goals.results.size()) {
    failure = "the proof is of another statement";
    return false;
  }
  std::vector<Formula> known = goals.known;
  llvm::append_range(known, statement.given);
  for (const Formula &formula : goals.wellFormed) {
    if (!decider.holds(known, formula)) {
      failure = "the after side may not be well formed";
      return false;
    }
    known.push_back(formula);
  }
  // What the after side needs, by what the before side needs.
  Checker first(decider, goals.names, statement.assumptions, goals.given());
  for (auto [need, shown] : llvm::zip(needed, proof.needs))
    if (!first.isShown(need.kind, need.width, goals.contextOf(need), need.value,
                       need.path, shown)) {
      failure = "the after side may not be defined: " + first.getFailure();
      return false;
    }
  Checker second(decider, goals.names, statement.assumptions, goals.needs);
  for (auto [result, zero] : llvm::zip(goals.results, proof.results))
    if (!second.isZero(result.context, result.difference, result.width, zero)) {
      failure = second.getFailure();
      return false;
    }
  return true;
}

} // namespace mlc::kernel
