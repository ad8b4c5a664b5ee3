//===- Cases.cpp - Conditions as cases, with equations solved -------------===//
//
// Nothing here is trusted: kernel/Cases.h checks the result.
//
//===----------------------------------------------------------------------===//

#include "dialects/Symbolic/IntExprSize.h"
#include "verifier/read/Goal.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Disjunctive normal form
//===----------------------------------------------------------------------===//

namespace {

using Conjunction = std::vector<Guard>;
using Alternatives = std::vector<Conjunction>;
constexpr size_t maxAlternatives = 32;

Alternatives both(const Alternatives &a, const Alternatives &b) {
  Alternatives result;
  for (const Conjunction &x : a)
    for (const Conjunction &y : b) {
      result.push_back(x);
      llvm::append_range(result.back(), y);
      if (result.size() > maxAlternatives)
        return result;
    }
  return result;
}

Alternatives alternativesOf(const Condition &condition, bool negate) {
  switch (condition.getKind()) {
  case Condition::Kind::Compare: {
    Guard guard = guardOf(condition.getLhs(), condition.getPredicate(),
                          condition.getRhs());
    return {{negate ? guard.negated() : guard}};
  }
  case Condition::Kind::Divides: {
    IntExpr divisor = condition.getLhs(), value = condition.getRhs();
    Guard rest = Guard::zero(value.mod(divisor));
    Guard positive = Guard::nonNegative(divisor - 1);
    if (!negate)
      return {{positive, rest}};
    return {{positive.negated()}, {positive, rest.negated()}};
  }
  case Condition::Kind::Not:
    return alternativesOf(condition.getParts()[0], !negate);
  case Condition::Kind::AllOf:
  case Condition::Kind::AnyOf:
    break;
  }
  bool isAnd = (condition.getKind() == Condition::Kind::AllOf) != negate;
  Alternatives result;
  if (isAnd)
    result.push_back({});
  for (const Condition &part : condition.getParts()) {
    Alternatives own = alternativesOf(part, negate);
    if (isAnd)
      result = both(result, own);
    else
      llvm::append_range(result, own);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Solving equations for symbols
//===----------------------------------------------------------------------===//

/// A symbol with coefficient 1 or -1 that occurs once, and its value given that
/// `zero` is 0.
std::optional<std::pair<IntExpr, IntExpr>> solveForSymbol(IntExpr zero) {
  for (const IndexMonomial &m : monomialsOf(zero)) {
    if (m.atoms.size() != 1 || (m.coefficient != 1 && m.coefficient != -1) ||
        m.atoms[0].getKind() != IntExpr::Kind::Symbol)
      continue;
    IntExpr symbol = m.atoms[0];
    IntExpr value = (symbol * m.coefficient - zero) * m.coefficient;
    if (!mentions(value, symbol))
      return std::pair(symbol, value);
  }
  return std::nullopt;
}

/// Values are substituted into each other, so their sizes multiply; symbols
/// with larger values stay.
bool isSmall(IntExpr value) { return sizeOf(value).nodes <= 256; }

class CaseBuilder {
public:
  CaseBuilder(Case &result, unsigned &numQuotients)
      : result(result), numQuotients(numQuotients) {}

  void run() {
    while (step())
      ;
  }

private:
  /// Solves one equation or divisibility; false if none can be solved.
  bool step() {
    for (size_t i = 0; i < result.guards.size(); ++i) {
      Guard guard = result.guards[i];
      if (guard.kind != Guard::Kind::Zero || guard.expr.isConstant())
        continue;
      if (guard.expr.getKind() == IntExpr::Kind::Mod) {
        if (solveDivisibility(i))
          return true;
        continue;
      }
      if (auto solved = solveForSymbol(guard.expr);
          solved && isSmall(solved->second)) {
        result.guards.erase(result.guards.begin() + i);
        replace(solved->first, solved->second);
        return true;
      }
    }
    return false;
  }

  /// d divides s + rest: s = d q - rest for a new q >= 0.
  bool solveDivisibility(size_t i) {
    IntExpr value = result.guards[i].expr.getOperands()[0],
            divisor = result.guards[i].expr.getOperands()[1];
    auto solved = solveForSymbol(value);
    if (!solved || !isSmall(value) || mentions(divisor, solved->first) ||
        !isPlainlyNonNegative(value, result.guards) ||
        !isPlainlyPositive(divisor, result.guards))
      return false;
    IntExpr symbol = solved->first, minusRest = solved->second;
    bool isPositive = !(value - symbol == -minusRest) ? false : true;
    result.quotients.push_back(
        {"%quotient" + std::to_string(numQuotients++), value, divisor});
    IntExpr quotient =
        IntExpr::symbol(value.getContext(), result.quotients.back().name);
    // value = symbol - minusRest, or minusRest - symbol.
    IntExpr number = divisor * quotient;
    result.guards.erase(result.guards.begin() + i);
    replace(symbol, isPositive ? minusRest + number : minusRest - number);
    return true;
  }

  void replace(IntExpr symbol, IntExpr value) {
    Substitution one{{symbol.getSymbol().str(), value}};
    for (auto &entry : result.solved)
      entry.second = substitute(entry.second, one);
    result.solved[symbol.getSymbol().str()] = value;
    for (Guard &guard : result.guards)
      guard.expr = substitute(guard.expr, one);
    if (!value.isKnownNonNegative())
      result.guards.push_back(Guard::nonNegative(value));
  }

  Case &result;
  unsigned &numQuotients;
};

} // namespace

void solveGuards(Case &one, unsigned &numQuotients) {
  CaseBuilder(one, numQuotients).run();
}

std::optional<std::vector<Case>>
casesOf(const std::vector<Condition> &conditions) {
  Alternatives alternatives =
      alternativesOf(Condition::allOf(conditions), false);
  if (alternatives.size() > maxAlternatives)
    return std::nullopt;
  std::vector<Case> cases;
  unsigned numQuotients = 0;
  for (Conjunction &guards : alternatives) {
    Case &one = cases.emplace_back();
    one.where = guards;
    one.guards = std::move(guards);
    solveGuards(one, numQuotients);
  }
  return cases;
}

} // namespace mlc::verifier
