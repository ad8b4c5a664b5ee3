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

} // namespace mlc::kernel
