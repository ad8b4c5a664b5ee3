//===- Bounds.cpp - Numbers between which a value lies --------------------===//

#include "verifier/Bounds.h"
#include "verifier/Normalize.h"
#include <algorithm>

namespace mlc::verifier {

using Bound = std::optional<Fraction>;

static const Fraction zero(0), one(1);

static bool isAtLeast(const Bound &low, const Fraction &number) {
  return low && *low >= number;
}
static bool isAtMost(const Bound &high, const Fraction &number) {
  return high && *high <= number;
}

Bounds operator+(const Bounds &a, const Bounds &b) {
  auto sum = [](const Bound &x, const Bound &y) {
    return x && y ? Bound(*x + *y) : std::nullopt;
  };
  return {sum(a.low, b.low), sum(a.high, b.high)};
}

Bounds operator*(const Fraction &factor, const Bounds &b) {
  auto times = [&](const Bound &x) {
    return x ? Bound(*x * factor) : std::nullopt;
  };
  if (factor >= zero)
    return {times(b.low), times(b.high)};
  return {times(b.high), times(b.low)};
}

Bounds operator*(const Bounds &a, const Bounds &b) {
  if (a.low && a.high && b.low && b.high) {
    Fraction corners[] = {*a.low * *b.low, *a.low * *b.high, *a.high * *b.low,
                          *a.high * *b.high};
    return {*std::min_element(std::begin(corners), std::end(corners)),
            *std::max_element(std::begin(corners), std::end(corners))};
  }
  // With an open end, only where signs are known.
  if (isAtLeast(a.low, zero) && isAtLeast(b.low, zero))
    return {*a.low * *b.low, std::nullopt};
  if (isAtMost(a.high, zero) && isAtMost(b.high, zero))
    return {*a.high * *b.high, std::nullopt};
  bool isNegative = (isAtLeast(a.low, zero) && isAtMost(b.high, zero)) ||
                    (isAtMost(a.high, zero) && isAtLeast(b.low, zero));
  return {std::nullopt, isNegative ? Bound(zero) : std::nullopt};
}

Bounds boundsOfCall(llvm::StringRef function, const Bounds &x) {
  if (function == "exp")
    return {isAtLeast(x.low, zero) ? one : zero,
            isAtMost(x.high, zero) ? Bound(one) : std::nullopt};
  if (function == "tanh" || function == "erf")
    return {isAtLeast(x.low, zero) ? zero : -one,
            isAtMost(x.high, zero) ? zero : one};
  if (function == "sqrt")
    return {isAtLeast(x.low, one) ? one : zero,
            isAtMost(x.high, one) ? Bound(one) : std::nullopt};
  if (function == "abs") {
    if (!x.low || !x.high)
      return {zero, std::nullopt};
    return {zero, std::max(*x.high, -*x.low)};
  }
  // Defined away from 0 only.
  if (function == "recip" && isAtLeast(x.low, zero))
    return {x.high && *x.high > zero ? one / *x.high : zero,
            *x.low > zero ? Bound(one / *x.low) : std::nullopt};
  return {};
}

Bounds Normalizer::boundsOf(const Atom &atom, const Facts &facts) const {
  Bounds bounds;
  if (atom.kind == Atom::Kind::Call && atom.arguments.size() == 1)
    bounds = boundsOfCall(atom.name, boundsOf(atom.arguments[0], facts));
  if (atom.kind == Atom::Kind::Reduce && atom.name == "max") {
    // The least that some part surely has; the most that any may have.
    bool allHigh = true;
    for (const Branch &branch : atom.branches) {
      Bounds own = boundsOf(branch.value, facts.with(branch.domain.guards));
      allHigh &= own.high.has_value();
      if (allHigh)
        bounds.high =
            bounds.high ? std::max(*bounds.high, *own.high) : own.high;
      if (own.low && isNeverEmpty(branch.domain, facts))
        bounds.low = bounds.low ? std::max(*bounds.low, *own.low) : own.low;
    }
    if (!allHigh)
      bounds.high.reset();
  }
  if (atom.isBoolean)
    bounds = {zero, one};
  if (!isAtLeast(bounds.low, zero) && signOf(atom, facts) > 0)
    bounds.low = zero;
  return bounds;
}

Bounds Normalizer::boundsOf(const Sum &sum, const Facts &facts) const {
  Bounds all{zero, zero};
  for (const Term &term : sum.terms) {
    Facts known = facts.with(term.domain.guards);
    Bounds product{one, one};
    for (const Factor &factor : term.factors) {
      Bounds own = boundsOf(*factor.atom, known);
      if (factor.power < 0)
        own = boundsOfCall("recip", own);
      Bounds power = own;
      for (int k = 1; k < std::abs(factor.power); ++k)
        power = power * own;
      if (factor.power % 2 == 0 && !isAtLeast(power.low, zero))
        power.low = zero;
      product = product * power;
    }
    product = term.coefficient * product;
    // A sum over some number of points, or a value that guards may turn off.
    if (!term.domain.variables.empty()) {
      product.low = isAtLeast(product.low, zero) ? Bound(zero) : std::nullopt;
      product.high = isAtMost(product.high, zero) ? Bound(zero) : std::nullopt;
    } else if (!term.domain.guards.empty()) {
      if (product.low)
        product.low = std::min(*product.low, zero);
      if (product.high)
        product.high = std::max(*product.high, zero);
    }
    all = all + product;
    if (!all.isKnown())
      return all;
  }
  return all;
}

} // namespace mlc::verifier
