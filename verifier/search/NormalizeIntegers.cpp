//===- NormalizeIntegers.cpp - Comparisons of residues --------------------===//

#include "verifier/search/Integers.h"
#include "verifier/search/Normalize.h"

using llvm::DynamicAPInt;

namespace mlc::verifier {

/// [x = 0]: what is odd has an inverse, so only the power of two that all
/// coefficients share counts, and not the sign.
static Sum isZero(const Head &function, const Sum &value,
                  const IntegerKind &kind) {
  Sum x = wrapped(value, kind);
  if (std::optional<Fraction> c = asConstant(x))
    return constantSum(Fraction(*c == Fraction(0) ? 1 : 0));
  DynamicAPInt odd = contentOf(x).num;
  while (odd % DynamicAPInt(2) == DynamicAPInt(0))
    odd = odd / DynamicAPInt(2);
  x = scaled(x, Fraction(DynamicAPInt(1), odd));
  if (str(negated(x)) < str(x))
    x = negated(x);
  return atomSum(makeCall(function, {x}, /*isBoolean=*/true));
}

/// [a < b].
static Sum isLess(const Head &function, const Sum &left, const Sum &right,
                  const IntegerKind &kind) {
  Sum a = wrapped(left, kind), b = wrapped(right, kind);
  std::optional<Fraction> x = asConstant(a), y = asConstant(b);
  if (x && y)
    return constantSum(
        Fraction(kind.numberOf(x->num) < kind.numberOf(y->num) ? 1 : 0));
  // Nothing is below the least, nor above the largest.
  if ((y && kind.numberOf(y->num) == kind.least()) ||
      (x && kind.numberOf(x->num) == kind.largest()) || sameSum(a, b))
    return {};
  return atomSum(makeCall(function, {a, b}, /*isBoolean=*/true));
}

Sum Normalizer::applyInteger(const Head &function, const std::vector<Sum> &x,
                             const Facts &facts, bool isBoolean) {
  std::optional<IntegerKind> kind = integerKindOf(function.getType());
  if (kind && function.getKind() == Head::Kind::Zero)
    return mapCases(x[0], facts, [&](const Sum &value, const Facts &) {
      return isZero(function, value, *kind);
    });
  if (kind && function.getKind() == Head::Kind::Less)
    return mapCases(x[0], facts, [&](const Sum &a, const Facts &known) {
      return mapCases(x[1], known, [&](const Sum &b, const Facts &) {
        return isLess(function, a, b, *kind);
      });
    });
  return call(function, x, facts, isBoolean);
}

} // namespace mlc::verifier
