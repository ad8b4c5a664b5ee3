//===- SymbolicNumber.cpp - Arithmetic on symbolic numbers ----------------===//

#include "dialects/Evaluator/SymbolicNumber.h"
#include "dialects/Symbolic/IntExprSize.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace mlc {

/// Fractions that float32 holds exactly; beyond, rounding would differ.
constexpr int64_t maxExact = 1 << 24;
constexpr int64_t maxDenominator = 1 << 16;
/// Only hostile models make larger expressions.
constexpr unsigned maxNodes = 1000;

static IntExpr constant(IntExpr like, int64_t value) {
  return IntExpr::constant(like.getContext(), value);
}

static Number number(IntExpr like, int64_t value) {
  return {constant(like, value)};
}

//===----------------------------------------------------------------------===//
// Numbers of a type
//===----------------------------------------------------------------------===//

MaybeNumber fraction(IntExpr numerator, int64_t denominator) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  if (denominator == 0 || denominator == least)
    return std::nullopt;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  if (auto exact = numerator.exactDiv(constant(numerator, denominator)))
    return Number{*exact, 1};
  if (std::optional<int64_t> value = numerator.asConstant()) {
    int64_t common = std::gcd(*value, denominator);
    return Number{constant(numerator, *value / common), denominator / common};
  }
  return Number{numerator, denominator};
}

static bool isExact(const Number &number) {
  if (number.denominator > maxDenominator)
    return false;
  std::optional<int64_t> value = number.numerator.asConstant();
  return !value || (std::abs(*value) <= maxExact &&
                    llvm::isPowerOf2_64(number.denominator));
}

MaybeNumber numberOf(double value, MLIRContext *context) {
  double scaled = value * maxDenominator;
  if (!std::isfinite(value) || std::signbit(value) != (value < 0) ||
      scaled != std::floor(scaled) ||
      std::abs(scaled) > double(maxExact) * maxDenominator)
    return std::nullopt;
  MaybeNumber number =
      fraction(IntExpr::constant(context, int64_t(scaled)), maxDenominator);
  return number && isExact(*number) ? number : std::nullopt;
}

MaybeNumber asElement(const Number &number, Type type) {
  if (sizeOf(number.numerator).nodes > maxNodes)
    return std::nullopt;
  if (type.isF32() || type.isF64())
    return isExact(number) ? MaybeNumber(number) : std::nullopt;
  if (isa<IndexType>(type))
    return number.isInteger() ? MaybeNumber(number) : std::nullopt;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !number.isInteger())
    return std::nullopt;
  std::optional<int64_t> value = number.asConstant();
  if (!value) {
    // An expression cannot express wrapping without a symbol, and sizes fit
    // into less than 32 bits only if they are known.
    bool isSymbolic = false;
    number.numerator.walkSymbols([&](llvm::StringRef) { isSymbolic = true; });
    bool fits = integer.getWidth() >= 32 || integer.getWidth() == 1;
    return isSymbolic && fits ? MaybeNumber(number) : std::nullopt;
  }
  llvm::APInt bits(64, uint64_t(*value));
  if (integer.getWidth() < 64)
    bits = bits.trunc(integer.getWidth());
  bool isUnsigned = integer.isUnsigned() || integer.getWidth() == 1;
  if (isUnsigned && bits.getActiveBits() > 63)
    return std::nullopt;
  return mlc::number(number.numerator, isUnsigned ? int64_t(bits.getZExtValue())
                                                  : bits.getSExtValue());
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

static bool isNegative(const Number &a) {
  return (-a.numerator).isKnownPositive();
}
static bool isPositive(const Number &a) {
  return a.numerator.isKnownPositive();
}

/// Whether a float product or quotient of both may be -0, which these numbers
/// do not have.
static bool mayBeMinusZero(const Number &a, const Number &b) {
  auto isSigned = [](const Number &x) {
    return isPositive(x) || isNegative(x);
  };
  bool nonNegative =
      a.numerator.isKnownNonNegative() && b.numerator.isKnownNonNegative();
  return !nonNegative && !(isSigned(a) && isSigned(b));
}

bool isUsuallyNonNegative(IntExpr a) {
  return a
      .substitute([&](llvm::StringRef symbol) {
        return IntExpr::symbol(a.getContext(), symbol) + 1;
      })
      .isKnownNonNegative();
}

/// a and b over a common denominator.
static bool align(Number &a, Number &b) {
  int64_t common;
  if (llvm::MulOverflow(a.denominator / std::gcd(a.denominator, b.denominator),
                        b.denominator, common))
    return false;
  a.numerator = a.numerator * (common / a.denominator);
  b.numerator = b.numerator * (common / b.denominator);
  a.denominator = b.denominator = common;
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The number rounded to an integer by `fn`; nothing if floats give -0.
static MaybeNumber rounded(UnaryFn fn, const Number &a) {
  if (a.isInteger())
    return a;
  IntExpr n = a.numerator, by = constant(n, a.denominator);
  if (fn == UnaryFn::Floor)
    return Number{n.floorDiv(by)};
  Number up = {n.ceilDiv(by)};
  bool isSafe = n.isKnownNonNegative() ||
                (up.numerator.isConstant() && !up.numerator.isConstant(0));
  if (fn == UnaryFn::Ceil)
    return isSafe ? MaybeNumber(up) : std::nullopt;
  std::optional<int64_t> value = n.asConstant();
  if (!value || *value < 0)
    return std::nullopt;
  return number(n, int64_t(std::nearbyint(double(*value) / a.denominator)));
}

MaybeNumber applyUnary(UnaryFn fn, Type type, const Number &a) {
  bool isFloat = isa<FloatType>(type);
  std::optional<int64_t> value = a.asConstant();
  switch (fn) {
  case UnaryFn::Neg:
    if (isFloat && !isPositive(a) && !isNegative(a))
      return std::nullopt;
    if (value)
      return asElement(number(a.numerator, int64_t(0 - uint64_t(*value))),
                       type);
    return asElement({-a.numerator, a.denominator}, type);
  case UnaryFn::Abs:
    if (a.numerator.isKnownNonNegative())
      return a;
    if (value)
      return asElement(number(a.numerator, int64_t(0 - uint64_t(*value))),
                       type);
    return asElement({IntExpr::max(a.numerator, -a.numerator), a.denominator},
                     type);
  case UnaryFn::Floor:
  case UnaryFn::Ceil:
  case UnaryFn::RoundEven: {
    MaybeNumber result = rounded(fn, a);
    return result ? asElement(*result, type) : std::nullopt;
  }
  case UnaryFn::Not:
    return Number{constant(a.numerator, 1) - a.numerator};
  default:
    return std::nullopt;
  }
}

/// The sum, difference or product of two known integers modulo 2^64.
static MaybeNumber machineArithmetic(BinaryFn fn, const Number &a,
                                     const Number &b) {
  std::optional<int64_t> x = a.asConstant(), y = b.asConstant();
  if (!x || !y)
    return std::nullopt;
  uint64_t left = *x, right = *y;
  switch (fn) {
  case BinaryFn::Add:
    return number(a.numerator, int64_t(left + right));
  case BinaryFn::Sub:
    return number(a.numerator, int64_t(left - right));
  case BinaryFn::Mul:
    return number(a.numerator, int64_t(left * right));
  default:
    return std::nullopt;
  }
}

/// Integer division towards zero.
static MaybeNumber divideIntegers(IntExpr a, IntExpr b,
                                  llvm::function_ref<void(IntExpr)> assume) {
  if (b.isConstant(0))
    return std::nullopt;
  if (a.isConstant() && b.isConstant()) {
    if (b.isConstant(-1)) // the one quotient that overflows
      return number(a, int64_t(0 - uint64_t(a.getConstant())));
    return number(a, a.getConstant() / b.getConstant());
  }
  if (std::optional<IntExpr> exact = a.exactDiv(b))
    return Number{*exact};
  if ((-b).isKnownPositive())
    return divideIntegers(-a, -b, assume);
  if (!b.isKnownPositive())
    return std::nullopt;
  if (a.isKnownNonNegative())
    return Number{a.floorDiv(b)};
  if (assume && isUsuallyNonNegative(a)) {
    assume(a);
    return Number{a.floorDiv(b)};
  }
  IntExpr zero = constant(a, 0);
  return Number{IntExpr::max(a, zero).floorDiv(b) -
                IntExpr::max(-a, zero).floorDiv(b)};
}

static MaybeNumber divideFloats(const Number &a, const Number &b) {
  if (mayBeMinusZero(a, b) || b.numerator.isConstant(0))
    return std::nullopt;
  int64_t denominator;
  if (std::optional<int64_t> by = b.numerator.asConstant()) {
    if (llvm::MulOverflow(a.denominator, *by, denominator))
      return std::nullopt;
    return fraction(a.numerator * b.denominator, denominator);
  }
  std::optional<IntExpr> exact = a.numerator.exactDiv(b.numerator);
  return exact ? fraction(*exact * b.denominator, a.denominator) : std::nullopt;
}

/// Connectives of truth values.
static MaybeNumber connect(BinaryFn fn, IntExpr a, IntExpr b) {
  switch (fn) {
  case BinaryFn::And:
    return Number{IntExpr::min(a, b)};
  case BinaryFn::Or:
    return Number{IntExpr::max(a, b)};
  case BinaryFn::Xor:
    return Number{a + b - a * b * 2};
  default:
    return std::nullopt;
  }
}

static MaybeNumber exactBinary(BinaryFn fn, Type type, Number a, Number b,
                               llvm::function_ref<void(IntExpr)> assume) {
  bool isFloat = isa<FloatType>(type);
  if (!isFloat)
    if (MaybeNumber known = machineArithmetic(fn, a, b))
      return known;
  if (fn == BinaryFn::Div)
    return isFloat ? divideFloats(a, b)
                   : divideIntegers(a.numerator, b.numerator, assume);
  if (fn == BinaryFn::Mul) {
    int64_t denominator;
    if ((isFloat && mayBeMinusZero(a, b)) ||
        llvm::MulOverflow(a.denominator, b.denominator, denominator))
      return std::nullopt;
    return fraction(a.numerator * b.numerator, denominator);
  }
  if (fn == BinaryFn::FloorDiv || fn == BinaryFn::Mod) {
    if (isFloat || !b.numerator.isKnownPositive())
      return std::nullopt;
    return Number{fn == BinaryFn::Mod ? a.numerator.mod(b.numerator)
                                      : a.numerator.floorDiv(b.numerator)};
  }
  if (type.isInteger(1))
    return connect(fn, a.numerator, b.numerator);
  if (!align(a, b))
    return std::nullopt;
  switch (fn) {
  case BinaryFn::Add:
    return fraction(a.numerator + b.numerator, a.denominator);
  case BinaryFn::Sub:
    return fraction(a.numerator - b.numerator, a.denominator);
  case BinaryFn::Min:
    return fraction(IntExpr::min(a.numerator, b.numerator), a.denominator);
  case BinaryFn::Max:
    return fraction(IntExpr::max(a.numerator, b.numerator), a.denominator);
  default:
    return std::nullopt;
  }
}

MaybeNumber applyBinary(BinaryFn fn, Type type, const Number &a,
                        const Number &b,
                        llvm::function_ref<void(IntExpr)> assume) {
  MaybeNumber result = exactBinary(fn, type, a, b, assume);
  return result ? asElement(*result, type) : std::nullopt;
}

MaybeNumber applyCompare(ComparePredicate predicate, Number a, Number b) {
  if (!align(a, b))
    return std::nullopt;
  using P = ComparePredicate;
  if (predicate == P::GT || predicate == P::GE) {
    std::swap(a, b);
    predicate = predicate == P::GT ? P::LT : P::LE;
  }
  IntExpr difference = b.numerator - a.numerator;
  IntExpr zero = constant(difference, 0), one = constant(difference, 1);
  // 1 if an integer is above 0, else 0.
  auto isAbove = [&](IntExpr x) {
    if (x.isKnownPositive())
      return one;
    if ((-x).isKnownNonNegative())
      return zero;
    return IntExpr::min(one, IntExpr::max(zero, x));
  };
  IntExpr truth;
  if (predicate == P::LT || predicate == P::LE)
    truth = isAbove(predicate == P::LT ? difference : difference + 1);
  else if (difference.isKnownPositive() || (-difference).isKnownPositive())
    truth = one;
  else
    truth = isAbove(difference.isConstant(0)
                        ? zero
                        : IntExpr::max(difference, -difference));
  if (predicate == P::EQ)
    truth = one - truth;
  return asElement({truth}, IntegerType::get(zero.getContext(), 1));
}

MaybeNumber applySelect(const Number &condition, const MaybeNumber &then,
                        const MaybeNumber &otherwise) {
  if (std::optional<int64_t> truth = condition.asConstant())
    return *truth ? then : otherwise;
  if (!then || !otherwise)
    return std::nullopt;
  if (then->numerator == otherwise->numerator &&
      then->denominator == otherwise->denominator)
    return then;
  if (!then->isInteger() || !otherwise->isInteger())
    return std::nullopt;
  return Number{otherwise->numerator +
                condition.numerator * (then->numerator - otherwise->numerator)};
}

MaybeNumber applyCast(const Number &a, Type from, Type to) {
  if (to.isInteger(1)) {
    // A bool is whether the number is not 0.
    return applyCompare(ComparePredicate::NE, a, number(a.numerator, 0));
  }
  if (isa<FloatType>(to) || !isa<FloatType>(from))
    return asElement(a, to);
  // A float is truncated; one that its integer type does not hold is left to
  // the evaluator of concrete tensors.
  Number cut = a;
  if (!a.isInteger()) {
    MaybeNumber quotient = divideIntegers(
        a.numerator, constant(a.numerator, a.denominator), nullptr);
    if (!quotient)
      return std::nullopt;
    cut = *quotient;
  }
  MaybeNumber held = asElement(cut, to);
  return held && held->numerator == cut.numerator ? held : std::nullopt;
}

} // namespace mlc
