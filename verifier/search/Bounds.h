//===- Bounds.h - Numbers between which a value lies ------------*- C++ -*-===//
//
// Rational bounds of real values in normal form, wherever these are defined:
// tanh lies in [-1, 1], exp of what is not negative is 1 at least, and so on
// through sums, products and maxima. They decide a maximum of two values that
// never overlap, such as sigmoid(x) and exp(|y|).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_BOUNDS_H
#define MLC_VERIFIER_SEARCH_BOUNDS_H

#include "verifier/search/Scalar.h"
#include <optional>

namespace mlc::verifier {

/// Nothing if no bound is known.
using Bound = std::optional<Fraction>;

/// Whether a value with this bound is at least, or at most, `number`.
bool isAtLeast(const Bound &low, const Fraction &number);
bool isAtMost(const Bound &high, const Fraction &number);

/// Both ends may be reached.
struct Bounds {
  Bound low, high;

  bool isKnown() const { return low || high; }
};

Bounds operator+(const Bounds &a, const Bounds &b);
Bounds operator*(const Bounds &a, const Bounds &b);
Bounds operator*(const Fraction &factor, const Bounds &b);

/// f of every number within `argument` for which it is defined.
Bounds boundsOfCall(UnaryFn function, const Bounds &argument);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_BOUNDS_H
