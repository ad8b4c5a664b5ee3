//===- ExpandCast.cpp - Constants, types and conversions ------------------===//
//
// A float is a real, an index an integer, an integer of w bits a residue modulo
// 2^w: sums, products and conversions to fewer bits are those of the integers.
// Operations on the number that a residue represents (order, division,
// conversion to more bits, to floats and indices) are a separate function for
// each type; only constants and numbers known to fit are evaluated.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include "verifier/search/Expand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mlc::verifier {

static bool isFloat(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type);
}
static bool isIndex(mlir::Type type) {
  return mlir::isa<mlir::IndexType>(type);
}

static std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Sum numberSum(mlir::Type type, double value) {
  value = roundToType(type, value);
  if (std::isnan(value))
    return atomSum(makeUninterpreted("nan", {}));
  if (std::isinf(value))
    return scaled(atomSum(makeReal(infinity)), Fraction(value > 0 ? 1 : -1));
  return constantSum(exactFraction(value));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Head castHead(mlir::Type from, mlir::Type to) {
  return Head::uninterpreted("cast:" + textOf(from) + ":" + textOf(to));
}

/// Sizes and loops are below 2^31 and their arithmetic does not overflow 64
/// bits; with small coefficients, their polynomials do not either.
static bool hasSmallCoefficients(const Sum &sum) {
  constexpr unsigned mostFactors = 2;
  return llvm::all_of(sum.terms, [](const Term &term) {
    int degree = 0;
    for (const Factor &factor : term.factors)
      degree += factor.power;
    return abs(term.coefficient.num) < powerOfTwo(31) && degree >= 0 &&
           degree <= static_cast<int>(mostFactors);
  });
}

/// Whether a polynomial of indices is the number that a residue represents, not
/// only equal to it modulo 2^w.
bool Expander::fits(const Sum &x, const IntegerKind &kind, const Facts &facts) {
  std::optional<IntExpr> number = fromSum(x);
  if (!number || kind.width > 64)
    return false;
  if (kind.width == 64)
    return hasSmallCoefficients(x) &&
           (!kind.isUnsigned || facts.provesNonNegative(*number));
  if (kind.width > 62)
    return false;
  IntExpr least = n.integer(static_cast<int64_t>(kind.least())),
          largest = n.integer(static_cast<int64_t>(kind.largest()));
  return facts.provesNonNegative(*number - least) &&
         facts.provesNonNegative(largest - *number);
}

/// Whether a half precision type is known to hold the integer exactly. Wider
/// floats count as holding every index: their rounding is treated like any
/// other rounding.
bool Expander::holds(mlir::Type type, const Sum &x, const Facts &facts) {
  auto narrow = mlir::cast<mlir::FloatType>(type);
  if (holdsNumbersOf(type, mlir::Float32Type::get(type.getContext())))
    return true;
  std::optional<IntExpr> number = fromSum(x);
  if (!number)
    return false;
  IntExpr largest = n.integer(int64_t(1) << narrow.getFPMantissaWidth());
  return facts.provesNonNegative(*number + largest) &&
         facts.provesNonNegative(largest - *number);
}

/// The converted constant, if x is a known one.
static std::optional<Sum> convertedSum(const Sum &x, mlir::Type from,
                                       mlir::Type to) {
  std::optional<Fraction> number = asConstant(x);
  std::optional<NumberType> a = numberTypeOf(from), b = numberTypeOf(to);
  std::optional<Fraction> result =
      number && a && b ? convertedNumber(*number, *a, *b) : std::nullopt;
  return result ? std::optional(constantSum(*result)) : std::nullopt;
}

/// From an integer type of more than one bit.
Sum Expander::castInteger(const Sum &x, mlir::Type from, mlir::Type to,
                          const Facts &facts) {
  IntegerKind kind = *integerKindOf(from);
  std::optional<IntegerKind> other = integerKindOf(to);
  if (other && other->width <= kind.width)
    return x;
  if (std::optional<Sum> constant = convertedSum(x, from, to))
    return *constant;
  bool isRounded = isFloat(to) && !holds(to, x, facts);
  if (!isRounded && fits(x, kind, facts))
    return x;
  return atomSum(makeCall(castHead(from, to), {x}));
}

/// From a float type: to a type that has all its numbers it is the identity;
/// otherwise it is a function that is known only for constants.
Sum Expander::castFloat(const Sum &x, mlir::Type from, mlir::Type to,
                        const Facts &facts) {
  if (isFloat(to) && holdsNumbersOf(to, from))
    return x;
  if (std::optional<Sum> constant = convertedSum(x, from, to))
    return *constant;
  return n.call(castHead(from, to), {x}, facts);
}

Sum Expander::expandCast(const ExprNode &node, const Scope &scope) {
  const Expr &operand = node.operands[0];
  mlir::Type from = operand->type, to = node.type;
  Sum x = expand(operand, scope);
  if (from == to || (from.isInteger(1) && holdsNumbersOf(to, from)))
    return x;
  if (to.isInteger(1)) {
    Head zero(Head::Kind::Zero, isIndex(from) ? mlir::Type() : from);
    Sum isZero = n.apply(zero, {x}, scope.facts, /*isBoolean=*/true);
    return add(constantSum(Fraction(1)), negated(isZero));
  }
  // A number that a float type does not hold is rounded.
  if (isIndex(from) && isFloat(to) && !holds(to, x, scope.facts)) {
    std::optional<Sum> constant = convertedSum(x, from, to);
    return constant ? *constant : n.call(castHead(from, to), {x}, scope.facts);
  }
  if (isIndex(from))
    return x;
  return n.mapCases(x, scope.facts, [&](const Sum &value, const Facts &facts) {
    if (from.isInteger(1))
      return n.call(castHead(from, to), {value}, facts);
    return isFloat(from) ? castFloat(value, from, to, facts)
                         : castInteger(value, from, to, facts);
  });
}

} // namespace mlc::verifier
