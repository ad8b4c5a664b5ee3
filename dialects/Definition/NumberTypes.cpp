//===- NumberTypes.cpp - Which numbers a type has -------------------------===//

#include "dialects/Definition/NumberTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::APFloat;
using llvm::APInt;
using llvm::DynamicAPInt;
using mlir::presburger::Fraction;

namespace mlc {

DynamicAPInt powerOfTwo(unsigned exponent) {
  return DynamicAPInt(APInt::getOneBitSet(exponent + 2, exponent));
}

DynamicAPInt NumberType::least() const {
  return isUnsigned ? DynamicAPInt(0) : -powerOfTwo(width - 1);
}

DynamicAPInt NumberType::largest() const {
  return powerOfTwo(isUnsigned ? width : width - 1) - DynamicAPInt(1);
}

DynamicAPInt NumberType::wrapped(const DynamicAPInt &value) const {
  DynamicAPInt rest = mod(value, powerOfTwo(width));
  return rest > largest() ? rest - powerOfTwo(width) : rest;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static NumberType ofInteger(unsigned width, bool isUnsigned) {
  if (width == 1)
    return {NumberType::Kind::Truth};
  return {NumberType::Kind::Integer, width, isUnsigned};
}

std::optional<NumberType> numberTypeOf(mlir::Type type) {
  if (auto real = mlir::dyn_cast<mlir::FloatType>(type))
    return NumberType{NumberType::Kind::Float, 0, false,
                      &real.getFloatSemantics()};
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type))
    return ofInteger(integer.getWidth(), integer.isUnsigned());
  if (mlir::isa<mlir::IndexType>(type))
    return NumberType{NumberType::Kind::Index};
  return std::nullopt;
}

std::optional<NumberType> numberTypeNamed(llvm::StringRef text) {
  static const std::pair<llvm::StringRef, const llvm::fltSemantics *> floats[] =
      {{"f4E2M1FN", &APFloat::Float4E2M1FN()},
       {"f6E2M3FN", &APFloat::Float6E2M3FN()},
       {"f6E3M2FN", &APFloat::Float6E3M2FN()},
       {"f8E5M2", &APFloat::Float8E5M2()},
       {"f8E4M3", &APFloat::Float8E4M3()},
       {"f8E4M3FN", &APFloat::Float8E4M3FN()},
       {"f8E5M2FNUZ", &APFloat::Float8E5M2FNUZ()},
       {"f8E4M3FNUZ", &APFloat::Float8E4M3FNUZ()},
       {"f8E4M3B11FNUZ", &APFloat::Float8E4M3B11FNUZ()},
       {"f8E3M4", &APFloat::Float8E3M4()},
       {"f8E8M0FNU", &APFloat::Float8E8M0FNU()},
       {"bf16", &APFloat::BFloat()},
       {"f16", &APFloat::IEEEhalf()},
       {"tf32", &APFloat::FloatTF32()},
       {"f32", &APFloat::IEEEsingle()},
       {"f64", &APFloat::IEEEdouble()},
       {"f80", &APFloat::x87DoubleExtended()},
       {"f128", &APFloat::IEEEquad()}};
  for (const auto &[name, semantics] : floats)
    if (text == name)
      return NumberType{NumberType::Kind::Float, 0, false, semantics};
  if (text == "index")
    return NumberType{NumberType::Kind::Index};
  bool isUnsigned = text.consume_front("u");
  if (!isUnsigned)
    text.consume_front("s");
  constexpr unsigned most = mlir::IntegerType::kMaxWidth;
  unsigned width = 0;
  if (!text.consume_front("i") || text.getAsInteger(10, width) || width == 0 ||
      width > most)
    return std::nullopt;
  return ofInteger(width, isUnsigned);
}

//===----------------------------------------------------------------------===//
// Containment
//===----------------------------------------------------------------------===//

/// The exponent of the last digit of the smallest numbers.
static int lastDigit(const llvm::fltSemantics &type) {
  return APFloat::semanticsMinExponent(type) -
         static_cast<int>(APFloat::semanticsPrecision(type)) + 1;
}

/// Whether `inner` has no more digits than `outer`, none below its last one.
static bool holdsFloats(const llvm::fltSemantics &outer,
                        const llvm::fltSemantics &inner) {
  bool hasDigits = APFloat::semanticsPrecision(inner) <=
                       APFloat::semanticsPrecision(outer) &&
                   lastDigit(inner) >= lastDigit(outer);
  bool hasSigns = APFloat::semanticsHasSignedRepr(outer) ||
                  !APFloat::semanticsHasSignedRepr(inner);
  bool hasZero =
      APFloat::semanticsHasZero(outer) || !APFloat::semanticsHasZero(inner);
  if (!hasDigits || !hasSigns || !hasZero)
    return false;
  APFloat largest = APFloat::getLargest(inner);
  bool losesInfo = false;
  largest.convert(outer, APFloat::rmTowardZero, &losesInfo);
  return !losesInfo && largest.isFinite();
}

/// Whether `outer` has every integer of at most that many digits.
static bool holdsIntegers(const llvm::fltSemantics &outer,
                          const NumberType &inner) {
  unsigned magnitude = inner.isUnsigned ? inner.width : inner.width - 1;
  return APFloat::semanticsHasZero(outer) &&
         (inner.isUnsigned || APFloat::semanticsHasSignedRepr(outer)) &&
         magnitude <= APFloat::semanticsPrecision(outer) &&
         static_cast<int>(magnitude) < APFloat::semanticsMaxExponent(outer);
}

bool holdsNumbersOf(const NumberType &outer, const NumberType &inner) {
  using Kind = NumberType::Kind;
  if (outer.kind == Kind::Index)
    return !inner.isFloat();
  switch (inner.kind) {
  case Kind::Index:
    return false;
  case Kind::Truth:
    return !outer.isFloat() || APFloat::semanticsHasZero(*outer.semantics);
  case Kind::Integer:
    if (outer.isFloat())
      return holdsIntegers(*outer.semantics, inner);
    return outer.isInteger() && outer.least() <= inner.least() &&
           inner.largest() <= outer.largest();
  case Kind::Float:
    return outer.isFloat() && holdsFloats(*outer.semantics, *inner.semantics);
  }
  llvm_unreachable("unknown type of numbers");
}

bool holdsNumbersOf(mlir::Type outer, mlir::Type inner) {
  std::optional<NumberType> a = numberTypeOf(outer), b = numberTypeOf(inner);
  return a && b && holdsNumbersOf(*a, *b);
}

/// Whether the type distinguishes -0 from 0.
static bool hasMinusZero(const llvm::fltSemantics &type) {
  return APFloat::semanticsHasZero(type) &&
         APFloat::semanticsHasSignedRepr(type) &&
         APFloat::getZero(type, /*Negative=*/true).isNegative();
}

bool holdsValuesOf(mlir::FloatType outer, mlir::FloatType inner) {
  const llvm::fltSemantics &a = outer.getFloatSemantics(),
                           &b = inner.getFloatSemantics();
  return holdsFloats(a, b) && (hasMinusZero(a) || !hasMinusZero(b)) &&
         (APFloat::semanticsHasInf(a) || !APFloat::semanticsHasInf(b)) &&
         (APFloat::semanticsHasNaN(a) || !APFloat::semanticsHasNaN(b));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Larger numbers are not tracked.
static constexpr unsigned mostBits = 200;

/// The same integer; `value` has less than `mostBits` bits.
static APInt bitsOf(const DynamicAPInt &value) {
  constexpr unsigned step = 32;
  APInt bits(mostBits, 0);
  DynamicAPInt rest = abs(value), base = powerOfTwo(step);
  for (unsigned at = 0; rest != DynamicAPInt(0); at += step) {
    auto digit = static_cast<uint64_t>(static_cast<int64_t>(rest % base));
    bits |= APInt(mostBits, digit).shl(at);
    rest = rest / base;
  }
  return value < DynamicAPInt(0) ? -bits : bits;
}

bool hasNoNumberNear(const llvm::fltSemantics &type, double value) {
  if ((!APFloat::semanticsHasZero(type) && value == 0.0) ||
      (!APFloat::semanticsHasSignedRepr(type) && value < 0.0))
    return true;
  return !APFloat::semanticsHasInf(type) && !APFloat::semanticsHasNaN(type) &&
         !(std::abs(value) <= APFloat::getLargest(type).convertToDouble());
}

/// The nearest float of a type, if it is a finite double.
static std::optional<Fraction> nearest(const Fraction &number,
                                       const llvm::fltSemantics &type) {
  constexpr unsigned digits = 53, mostShift = 1000;
  if (abs(number.num) >= powerOfTwo(mostBits - 2))
    return std::nullopt;
  unsigned shift = 0;
  for (DynamicAPInt under = number.den; under != DynamicAPInt(1); ++shift) {
    if (under % DynamicAPInt(2) != DynamicAPInt(0) || shift >= mostShift)
      return std::nullopt;
    under = under / DynamicAPInt(2);
  }
  // Each path rounds once: a fraction is a double to begin with.
  bool losesInfo = false;
  APFloat value(type);
  if (shift == 0) {
    value.convertFromAPInt(bitsOf(number.num), /*IsSigned=*/true,
                           APFloat::rmNearestTiesToEven);
  } else {
    if (abs(number.num) >= powerOfTwo(digits))
      return std::nullopt;
    value = APFloat(
        std::ldexp(static_cast<double>(static_cast<int64_t>(number.num)),
                   -static_cast<int>(shift)));
    value.convert(type, APFloat::rmNearestTiesToEven, &losesInfo);
  }
  if (!value.isFinite())
    return std::nullopt;
  // A type with neither infinity nor NaN saturates.
  bool saturates = !APFloat::semanticsHasInf(type) &&
                   !APFloat::semanticsHasNaN(type) && value.isLargest();
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  if (losesInfo || !value.isFinite())
    return std::nullopt;
  int exponent = 0;
  double fraction = std::frexp(value.convertToDouble(), &exponent);
  DynamicAPInt whole(static_cast<int64_t>(std::ldexp(fraction, digits)));
  exponent -= static_cast<int>(digits);
  Fraction result =
      exponent >= 0
          ? Fraction(whole * powerOfTwo(exponent))
          : mlir::presburger::reduce(Fraction(whole, powerOfTwo(-exponent)));
  return saturates && result != number ? std::nullopt : std::optional(result);
}

std::optional<Fraction> convertedNumber(const Fraction &number,
                                        const NumberType &from,
                                        const NumberType &to) {
  using Kind = NumberType::Kind;
  Fraction value = mlir::presburger::reduce(number);
  bool isWhole = value.den == DynamicAPInt(1);
  bool isTruth = value == Fraction(0) || value == Fraction(1);
  if ((!from.isFloat() && !isWhole) || (from.kind == Kind::Truth && !isTruth))
    return std::nullopt;
  if (from.isInteger())
    value = Fraction(from.wrapped(value.num));
  switch (to.kind) {
  case Kind::Truth:
    return Fraction(value == Fraction(0) ? 0 : 1);
  case Kind::Float: {
    // Without 0 or a sign, rounding follows other rules, and a number too small
    // for a type may become -0.
    bool isOrdinary = APFloat::semanticsHasZero(*to.semantics) &&
                      APFloat::semanticsHasSignedRepr(*to.semantics);
    if (!isOrdinary && value <= Fraction(0))
      return std::nullopt;
    std::optional<Fraction> result = nearest(value, *to.semantics);
    bool isKnown =
        result && (*result == value || (isOrdinary && *result != Fraction(0)));
    return isKnown ? result : std::nullopt;
  }
  case Kind::Index:
  case Kind::Integer:
    break;
  }
  DynamicAPInt whole = abs(value.num) / value.den;
  if (value.num < DynamicAPInt(0))
    whole = -whole;
  if (to.kind == Kind::Index)
    return Fraction(whole);
  // Integers wrap around; a float beyond the type has no value in it.
  if (!from.isFloat())
    return Fraction(to.wrapped(whole));
  bool isInside = to.least() <= whole && whole <= to.largest();
  return isInside ? std::optional(Fraction(whole)) : std::nullopt;
}

} // namespace mlc
