//===- Bounds.cpp - Numbers between which a value lies --------------------===//

#include "verifier/search/Bounds.h"
#include <algorithm>
#include <cmath>

namespace mlc::verifier {

static const Fraction zero(0), one(1);

bool isAtLeast(const Bound &low, const Fraction &number) {
  return low && *low >= number;
}
bool isAtMost(const Bound &high, const Fraction &number) {
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

} // namespace mlc::verifier
