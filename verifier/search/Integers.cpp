//===- Integers.cpp - Numbers modulo 2^w ----------------------------------===//

#include "verifier/search/Integers.h"
#include "verifier/search/Normalize.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::DynamicAPInt;
using llvm::StringRef;

namespace mlc::verifier {

DynamicAPInt IntegerKind::least() const {
  return isUnsigned ? DynamicAPInt(0) : -powerOfTwo(width - 1);
}

DynamicAPInt IntegerKind::largest() const {
  return powerOfTwo(isUnsigned ? width : width - 1) - DynamicAPInt(1);
}

DynamicAPInt IntegerKind::wrapped(const DynamicAPInt &value) const {
  DynamicAPInt modulus = powerOfTwo(width), rest = mod(value, modulus);
  return rest >= powerOfTwo(width - 1) ? rest - modulus : rest;
}

DynamicAPInt IntegerKind::numberOf(const DynamicAPInt &residue) const {
  DynamicAPInt number = wrapped(residue);
  return isUnsigned && number < DynamicAPInt(0) ? number + powerOfTwo(width)
                                                : number;
}

std::optional<IntegerKind> integerKindOf(mlir::Type type) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.getWidth() == 1)
    return std::nullopt;
  return IntegerKind{integer.getWidth(), integer.isUnsigned()};
}

std::string named(StringRef function, mlir::Type type) {
  if (mlir::isa<mlir::FloatType>(type) || type.isInteger(1))
    return function.str();
  std::string text;
  llvm::raw_string_ostream(text) << function << ':' << type;
  return text;
}

Sum wrapped(Sum sum, const IntegerKind &kind) {
  llvm::erase_if(sum.terms, [&](Term &term) {
    assert(term.coefficient.den == 1 && "a fraction among residues");
    term.coefficient = Fraction(kind.wrapped(term.coefficient.num));
    return term.coefficient == Fraction(0);
  });
  return sum;
}

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
