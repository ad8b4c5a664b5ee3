//===- Simplify.cpp - Domains and terms in normal form --------------------===//

#include "verifier/search/Normalize.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// e == 0 divided by positive symbols that all its monomials share.
static IntExpr divideByCommonFactors(IntExpr e, const Facts &facts) {
  SmallVector<IndexMonomial, 4> monomials = monomialsOf(e);
  if (monomials.empty())
    return e;
  for (IntExpr atom : monomials.front().atoms) {
    std::optional<IntExpr> quotient = e.exactDiv(atom);
    if (quotient && facts.provesPositive(atom))
      return divideByCommonFactors(*quotient, facts);
  }
  return e;
}

/// min(a, b) + e >= 0 is a + e >= 0 and b + e >= 0; the same for -max.
static std::optional<SmallVector<Guard>> splitMinimum(const Guard &guard) {
  if (guard.kind != Guard::Kind::NonNegative)
    return std::nullopt;
  for (const IndexMonomial &m : monomialsOf(guard.expr)) {
    if (m.atoms.size() != 1)
      continue;
    IntExpr::Kind kind = m.atoms[0].getKind();
    if (!(kind == IntExpr::Kind::Min && m.coefficient > 0) &&
        !(kind == IntExpr::Kind::Max && m.coefficient < 0))
      continue;
    SmallVector<Guard> parts;
    for (IntExpr operand : m.atoms[0].getOperands())
      parts.push_back(Guard::nonNegative(guard.expr + (operand - m.atoms[0]) *
                                                          m.coefficient));
    // A sum that overflows keeps its form, including the minimum.
    if (llvm::any_of(parts, [&](const Guard &part) {
          return mentions(part, m.atoms[0]);
        }))
      continue;
    return parts;
  }
  return std::nullopt;
}

/// Simplifies each guard under the others; false if they exclude each other.
/// `inner` receives the facts that hold where the term is not 0.
bool Normalizer::simplifyDomain(Term &term, const Facts &outer, Facts &inner,
                                std::vector<IntExpr> &) {
  auto &guards = term.domain.guards;
  for (size_t i = 0; i < guards.size();) {
    if (auto parts = splitMinimum(guards[i])) {
      guards.erase(guards.begin() + i);
      llvm::append_range(guards, *parts);
    } else {
      ++i;
    }
  }
  for (size_t i = 0; i < guards.size() && budget.check(guards.size());) {
    Facts others = outer;
    for (size_t j = 0; j < guards.size(); ++j)
      if (j != i)
        others.add(guards[j]);
    Guard guard = others.simplify(guards[i]);
    if (guard.kind != Guard::Kind::NonNegative)
      guard.expr = divideByCommonFactors(guard.expr, others);
    if (others.refutes(guard))
      return false;
    if (others.implies(guard)) {
      guards.erase(guards.begin() + i);
      continue;
    }
    guards[i++] = guard;
  }
  inner = outer.with(guards);
  return true;
}

/// The value of `variable` by zero == 0, if its coefficient is +-1.
static std::optional<IntExpr> solveFor(IntExpr zero, IntExpr variable) {
  int64_t coefficient = 0;
  for (const IndexMonomial &m : monomialsOf(zero)) {
    if (m.atoms.size() == 1 && m.atoms[0] == variable)
      coefficient = m.coefficient;
    else if (llvm::any_of(m.atoms,
                          [&](IntExpr a) { return mentions(a, variable); }))
      return std::nullopt;
  }
  if (coefficient != 1 && coefficient != -1)
    return std::nullopt;
  IntExpr rest = zero - variable * coefficient;
  if (mentions(rest, variable)) // the sum has no canonical form: it overflows
    return std::nullopt;
  return coefficient == 1 ? -rest : rest;
}

static void replaceVariable(Term &term, IntExpr variable, IntExpr value) {
  auto &variables = term.domain.variables;
  variables.erase(llvm::find(variables, variable));
  term = substitute(term, Substitution{{variable.getSymbol().str(), value}});
  if (!value.isKnownNonNegative())
    term.domain.guards.push_back(Guard::nonNegative(value));
}

/// Replaces a variable that an equation or its range determines by its value.
bool Normalizer::eliminateVariable(Term &term, const Facts &inner) {
  for (IntExpr v : term.domain.variables) {
    for (const Guard &guard : term.domain.guards) {
      if (guard.kind != Guard::Kind::Zero || !mentions(guard, v))
        continue;
      if (std::optional<IntExpr> value = solveFor(guard.expr, v)) {
        replaceVariable(term, v, *value);
        return true;
      }
    }
    if (inner.provesNonNegative(-v)) {
      replaceVariable(term, v, integer(0));
      return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

static void collectFloorDivs(IntExpr expr,
                             llvm::SmallVectorImpl<IntExpr> &found) {
  for (IntExpr operand : expr.getOperands())
    collectFloorDivs(operand, found);
  if (expr.getKind() == IntExpr::Kind::FloorDiv &&
      !llvm::is_contained(found, expr))
    found.push_back(expr);
}

std::optional<DigitSplit> findDigitSplit(IntExpr expr,
                                         ArrayRef<IntExpr> variables,
                                         const Facts &facts, Normalizer &n) {
  SmallVector<IntExpr> quotients;
  collectFloorDivs(expr, quotients);
  for (IntExpr quotient : quotients) {
    IntExpr e = quotient.getOperands()[0], d = quotient.getOperands()[1];
    if (!facts.provesPositive(d) || !facts.provesNonNegative(e))
      continue;
    for (IntExpr v : variables) {
      std::optional<IntExpr> solved = solveFor(e, v); // e = 0
      if (!solved || mentions(d, v))
        continue;
      DigitSplit split;
      split.variable = v;
      split.quotient = n.freshVariable();
      split.rest = n.freshVariable();
      IntExpr number = d * split.quotient + split.rest;
      // e = v - solved, or e = solved - v.
      bool isPositive = (e - v + *solved).isConstant(0);
      split.value = isPositive ? number + *solved : *solved - number;
      split.guards.push_back(Guard::less(split.rest, d));
      if (!split.value.isKnownNonNegative())
        split.guards.push_back(Guard::nonNegative(split.value));
      return split;
    }
  }
  return std::nullopt;
}

Guard divideGuard(const Guard &guard, IntExpr divisor, const Facts &facts) {
  if (guard.kind != Guard::Kind::NonNegative)
    return guard;
  IntExpr quotient = facts.simplify(guard.expr.floorDiv(divisor));
  SmallVector<IntExpr> left;
  collectFloorDivs(quotient, left);
  return left.empty() ? Guard::nonNegative(quotient) : guard;
}

/// Splits a variable inside a floor division into quotient and remainder.
bool Normalizer::splitDigits(Term &term, const Facts &inner) {
  std::optional<DigitSplit> split;
  walkIndices(term, [&](IntExpr e) {
    if (!split)
      split = findDigitSplit(e, term.domain.variables, inner, *this);
  });
  if (!split)
    return false;
  replaceVariable(term, split->variable, split->value);
  term.domain.variables.push_back(split->quotient);
  term.domain.variables.push_back(split->rest);
  Facts facts = inner.with(split->guards);
  IntExpr divisor = split->guards.front().expr + split->rest + 1;
  for (Guard &guard : term.domain.guards)
    if (mentions(guard, split->quotient))
      guard = divideGuard(guard, divisor, facts);
  llvm::append_range(term.domain.guards, split->guards);
  return true;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

Sum Normalizer::simplifyFactor(const Factor &factor, const Facts &facts) {
  const Atom &atom = *factor.atom;
  Sum value;
  switch (atom.kind) {
  case Atom::Kind::Real:
    return atomSum(factor.atom, factor.power);
  case Atom::Kind::Read: {
    Atom copy = atom;
    for (IntExpr &index : copy.index)
      index = facts.simplify(index);
    return atomSum(std::make_shared<const Atom>(std::move(copy)), factor.power);
  }
  case Atom::Kind::Integer:
    value = integerSum(facts.simplify(atom.index[0]));
    break;
  case Atom::Kind::Call: {
    std::vector<Sum> arguments;
    for (const Sum &argument : atom.arguments)
      arguments.push_back(simplify(argument, facts));
    value = apply(atom.head, std::move(arguments), facts, atom.isBoolean);
    break;
  }
  case Atom::Kind::Reduce:
    value = reduce(atom.head, atom.branches, facts);
    break;
  }
  if (const Factor *single = asSingleFactor(value); single)
    return atomSum(single->atom, single->power * factor.power);
  return factor.power > 0 ? power(value, factor.power)
                          : power(reciprocal(value, facts), -factor.power);
}

/// Replaces a variable that occurs only in its upper bound E by the factor E.
static std::optional<IntExpr> takeCount(Term &term) {
  for (IntExpr v : term.domain.variables) {
    if (llvm::any_of(term.factors,
                     [&](const Factor &f) { return mentions(*f.atom, v); }))
      continue;
    SmallVector<Guard> about;
    for (const Guard &guard : term.domain.guards)
      if (mentions(guard, v))
        about.push_back(guard);
    if (about.size() != 1 || about[0].kind != Guard::Kind::NonNegative ||
        mentions(about[0].expr + v, v))
      continue;
    llvm::erase(term.domain.guards, about[0]);
    term.domain.variables.erase(llvm::find(term.domain.variables, v));
    return about[0].expr + v + 1;
  }
  return std::nullopt;
}

/// Whether a term has a reciprocal, which another factor may cancel.
static bool mayDivide(const Term &term) {
  return llvm::any_of(term.factors,
                      [](const Factor &f) { return f.power < 0; });
}

Sum Normalizer::simplifyTerm(Term term, const Facts &facts) {
  std::vector<IntExpr> counts;
  for (unsigned round = 0; round < 24; ++round) {
    Facts inner;
    if (!budget.check())
      return {};
    if (!simplifyDomain(term, facts, inner, counts))
      return {};
    if (eliminateVariable(term, inner))
      continue;
    Sum product = constantSum(term.coefficient);
    for (const Factor &factor : term.factors)
      product = multiply(product, simplifyFactor(factor, inner));
    if (std::optional<IntExpr> extent = takeCount(term)) {
      // Decide by the remaining guards, because the removed range implied it.
      Facts left = facts.with(term.domain.guards);
      IntExpr least = *extent;
      // A divisor is nonzero where the count is positive, but may be 0 where it
      // is 0.
      if (llvm::any_of(product.terms, mayDivide))
        least = least - 1;
      if (!left.provesNonNegative(least))
        term.domain.guards.push_back(Guard::nonNegative(least));
      product = multiply(product, integerSum(*extent));
    }
    bool isPlain = product.terms.size() == 1 &&
                   product.terms.front().domain.variables.empty() &&
                   product.terms.front().domain.guards.empty();
    if (!isPlain) {
      Sum result;
      for (const Term &part : sumOver(term.domain, product).terms)
        result = add(result, simplifyTerm(part, facts));
      return result;
    }
    bool changed = product.terms.front().factors.size() != term.factors.size();
    term.coefficient = product.terms.front().coefficient;
    term.factors = product.terms.front().factors;
    if (splitDigits(term, inner) || changed)
      continue;
    bool hasCount = false;
    Term copy = term;
    hasCount = takeCount(copy).has_value();
    if (!hasCount)
      break;
  }
  return Sum{{std::move(term)}};
}

Sum Normalizer::simplify(const Sum &sum, const Facts &facts) {
  Sum result;
  for (const Term &term : sum.terms) {
    result = add(result, simplifyTerm(term, facts));
    if (!budget.check(result.terms.size()))
      return {};
  }
  return result;
}

} // namespace mlc::verifier
