//===- Bounds.cpp - Numbers between which a value lies --------------------===//

#include "verifier/search/Bounds.h"
#include "verifier/search/Normalize.h"
#include <algorithm>
#include <cmath>

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

static Bound boundOf(double number) {
  return std::isfinite(number) ? Bound(exactFraction(number)) : std::nullopt;
}

static Bound valueOf(double number) {
  return ScalarFunction::isWhole(number) ? boundOf(number) : std::nullopt;
}

Bounds boundsOfCall(UnaryFn function, const Bounds &x) {
  const ScalarFunction &f = factsOf(function);
  Bounds bounds{boundOf(f.range.low), boundOf(f.range.high)};
  if (function == UnaryFn::Abs && x.low && x.high)
    bounds.high = std::max(*x.high, -*x.low);
  // Defined away from 0 only.
  if (function == UnaryFn::Reciprocal && isAtLeast(x.low, zero))
    return {x.high && *x.high > zero ? one / *x.high : zero,
            *x.low > zero ? Bound(one / *x.low) : std::nullopt};
  if (!f.isMonotone())
    return bounds;
  // On this side of a point with a known value.
  for (auto [at, value] :
       {std::pair(zero, valueOf(f.atZero)), std::pair(one, valueOf(f.atOne))}) {
    if (value && isAtLeast(x.low, at))
      bounds.low = bounds.low ? std::max(*bounds.low, *value) : *value;
    if (value && isAtMost(x.high, at))
      bounds.high = bounds.high ? std::min(*bounds.high, *value) : *value;
  }
  return bounds;
}

Bounds Normalizer::boundsOf(const Atom &atom, const Facts &facts) const {
  Bounds bounds;
  if (std::optional<UnaryFn> function = atom.head.getFunction())
    bounds = boundsOfCall(*function, boundsOf(atom.arguments[0], facts));
  if (atom.kind == Atom::Kind::Reduce && atom.head.is(Head::Kind::Max)) {
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
        own = boundsOfCall(UnaryFn::Reciprocal, own);
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
