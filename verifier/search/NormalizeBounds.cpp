//===- NormalizeBounds.cpp - Bounds of normal forms -----------------------===//

#include "verifier/search/Normalize.h"
#include <algorithm>

namespace mlc::verifier {

static const Fraction zero(0), one(1);

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
