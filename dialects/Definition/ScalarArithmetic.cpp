//===- ScalarArithmetic.cpp - Intervals and small floats
//-------------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include "llvm/ADT/APSInt.h"
#include <cmath>
#include <limits>

using llvm::StringRef;

namespace mlc {

StringRef describe(Undefined reason) {
  switch (reason) {
  case Undefined::None:
    return "defined";
  case Undefined::OutOfRange:
    return "read out of range";
  case Undefined::DivisionByZero:
  case Undefined::IntegerDivisionByZero:
    return "division by zero";
  case Undefined::OutOfType:
    return "a number that the type does not hold";
  case Undefined::NegativeRoot:
    return "square root of a negative number";
  case Undefined::LogOfNonPositive:
    return "logarithm of a number that is not positive";
  case Undefined::Ambiguous:
    return "the interval does not decide";
  case Undefined::Overflow:
    return "exact number too large";
  case Undefined::NotANumber:
    return "not a number";
  case Undefined::NoMeaning:
    return "function without meaning in this domain";
  }
  llvm_unreachable("unknown reason");
}

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

double roundToType(mlir::Type type, double value) {
  auto floatType = mlir::dyn_cast<mlir::FloatType>(type);
  if (!floatType || floatType.isF64())
    return value;
  if (floatType.isF32())
    return static_cast<float>(value);
  llvm::APFloat number(value);
  bool isInexact = false;
  for (const llvm::fltSemantics *semantics :
       {&floatType.getFloatSemantics(), &llvm::APFloat::IEEEdouble()})
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToDouble();
}

int64_t truncateToType(mlir::Type type, double value) {
  if (type.isInteger(1))
    return value != 0;
  bool isUnsigned = type.isUnsignedInteger(), isExact = false;
  llvm::APSInt integer(type.getIntOrFloatBitWidth(), isUnsigned);
  llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero,
                                        &isExact);
  return isUnsigned ? int64_t(integer.getZExtValue()) : integer.getSExtValue();
}

uint16_t halfBits(float x) {
  uint32_t bits = llvm::bit_cast<uint32_t>(x);
  uint16_t sign = (bits >> 16) & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7e00;
  if (bits >= 0x477ff000) // rounds to 65536 or more
    return sign | 0x7c00;
  if (bits < 0x38800000) {
    // Subnormal in f16: adding 0.5 rounds at bit 2^-24 of the f32 sum.
    float shifted = llvm::bit_cast<float>(bits) + 0.5f;
    return sign | (llvm::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  uint32_t odd = (bits >> 13) & 1;
  return sign | ((bits - 0x38000000 + 0xfff + odd) >> 13);
}

float halfValue(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t rest = uint32_t(bits & 0x7fff) << 13;
  if ((bits & 0x7c00) == 0x7c00)
    return llvm::bit_cast<float>(sign | 0x7f800000 | rest);
  // Scaling by 2^112 moves the exponent and normalizes subnormals.
  float scaled =
      llvm::bit_cast<float>(rest) * llvm::bit_cast<float>(0x77800000u);
  return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(scaled));
}

float roundToHalf(float x) { return halfValue(halfBits(x)); }

float roundToBFloat(float x) {
  uint32_t bits = llvm::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return llvm::bit_cast<float>((bits | 0x00400000) & 0xffff0000);
  bits += 0x7fff + ((bits >> 16) & 1);
  return llvm::bit_cast<float>(bits & 0xffff0000);
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double down(double x) { return std::nextafter(x, -infinity); }
double up(double x) { return std::nextafter(x, infinity); }

/// A rounded result with the sign of its error, as far as known.
Interval around(double value, double error) {
  if (error == 0.0 || std::isinf(value))
    return {value, value};
  if (std::isnan(error))
    return {down(value), up(value)};
  return error > 0 ? Interval{value, up(value)} : Interval{down(value), value};
}

Interval sumOf(double a, double b) {
  double s = a + b;
  if (!std::isfinite(s)) {
    // Finite ends that overflow still bound finite numbers.
    if (std::isfinite(a) && std::isfinite(b))
      return s > 0 ? Interval{std::numeric_limits<double>::max(), s}
                   : Interval{s, std::numeric_limits<double>::lowest()};
    return {s, s};
  }
  double part = s - a;
  return around(s, (a - (s - part)) + (b - part));
}

Interval productOf(double a, double b) {
  if (a == 0.0 || b == 0.0)
    return {0.0, 0.0};
  double p = a * b;
  if (std::isinf(p) && std::isfinite(a) && std::isfinite(b))
    return p > 0 ? Interval{std::numeric_limits<double>::max(), p}
                 : Interval{p, std::numeric_limits<double>::lowest()};
  if (std::fabs(p) < 1e-290)
    return {down(p), up(p)};
  return around(p, std::fma(a, b, -p));
}

Interval quotientOf(double a, double b) {
  double q = a / b;
  if (std::isinf(b))
    return {0.0, 0.0};
  double rest = std::fma(-q, b, a);
  if (rest == 0.0 || std::isinf(q))
    return {q, q};
  return {down(q), up(q)};
}

template <typename Corner>
Interval hull(Interval a, Interval b, Corner corner) {
  Interval all = {infinity, -infinity};
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      Interval c = corner(x, y);
      all.low = std::min(all.low, c.low);
      all.high = std::max(all.high, c.high);
    }
  return all;
}

/// Library functions are off by an ulp or two; allow four.
Interval widened(double low, double high) {
  for (int i = 0; i < 4; ++i) {
    low = down(low);
    high = up(high);
  }
  return {low, high};
}

Undefined checked(Interval value, Interval &out) {
  out = value;
  return std::isnan(value.low) || std::isnan(value.high) ? Undefined::NotANumber
                                                         : Undefined::None;
}

Undefined multiply(Interval a, Interval b, Interval &out) {
  return checked(hull(a, b, productOf), out);
}

Undefined divide(Interval a, Interval b, Interval &out) {
  if (b.low == 0.0 && b.high == 0.0)
    return Undefined::DivisionByZero;
  if (b.low <= 0.0 && b.high >= 0.0)
    return Undefined::Ambiguous;
  return checked(hull(a, b, quotientOf), out);
}

/// Why f is undefined somewhere in an interval.
Undefined whyUndefined(const ScalarFunction &f, Interval a) {
  bool isLowIn = f.where.contains(a.low), isHighIn = f.where.contains(a.high);
  bool isBelow = !isHighIn && a.high <= f.where.low;
  bool isAbove = !isLowIn && a.low >= f.where.high;
  bool isPoint = a.low == a.high && !f.isDefinedAt(a.low);
  if (isBelow || isAbove || isPoint)
    return f.undefined;
  bool meetsZero = f.excludesZero && a.low <= 0.0 && a.high >= 0.0;
  return isLowIn && isHighIn && !meetsZero ? Undefined::None
                                           : Undefined::Ambiguous;
}

/// The interval of an increasing function, from its values at the ends.
Undefined increasing(const ScalarFunction &f, Interval a, Interval &out) {
  if (a.low == 0.0 && a.high == 0.0 && f.hasZero()) {
    out = {f.atZero, f.atZero};
    return Undefined::None;
  }
  // Exact values (at 0 and infinities) are not widened.
  auto end = [&](double x) {
    double y = f.evaluate(x);
    bool isLimit =
        std::isinf(x) && (std::isinf(y) || ScalarFunction::isWhole(y));
    return y == 0.0 || isLimit ? Interval{y, y} : widened(y, y);
  };
  return checked({std::max(end(a.low).low, f.range.low),
                  std::min(end(a.high).high, f.range.high)},
                 out);
}

Undefined power(Interval a, Interval b, Interval &out) {
  bool integral =
      b.low == b.high && std::trunc(b.low) == b.low && std::fabs(b.low) < 1024;
  if (integral) {
    Interval result = {1.0, 1.0};
    int64_t n = std::llabs(static_cast<int64_t>(b.low));
    Interval base = a;
    if (n % 2 == 0)
      (void)applyUnary(UnaryFn::Abs, a, base);
    for (; n > 0; --n)
      if (Undefined u = multiply(result, base, result); u != Undefined::None)
        return u;
    return b.low < 0 ? divide({1.0, 1.0}, result, out) : checked(result, out);
  }
  if (a.low < 0.0)
    return a.high < 0.0 ? Undefined::NotANumber : Undefined::Ambiguous;
  // 0 to a negative power is 1 / 0.
  if (a.low == 0.0 && b.low < 0.0)
    return a.high == 0.0 && b.high < 0.0 ? Undefined::DivisionByZero
                                         : Undefined::Ambiguous;
  Interval corners = hull(a, b, [](double x, double y) {
    double p = std::pow(x, y);
    return widened(p, p);
  });
  corners.low = std::max(corners.low, 0.0);
  return checked(corners, out);
}

} // namespace

Undefined fromInt(__int128 value, Interval &out) {
  double x = static_cast<double>(value);
  bool exact = static_cast<__int128>(x) == value;
  out = exact ? Interval{x, x} : Interval{down(x), up(x)};
  return Undefined::None;
}

Undefined fromDouble(double value, Interval &out) {
  out = {value, value};
  return std::isnan(value) ? Undefined::NotANumber : Undefined::None;
}

//===----------------------------------------------------------------------===//
// Functions with special intervals
//===----------------------------------------------------------------------===//

namespace interval {

Undefined negate(const ScalarFunction &, Interval a, Interval &out) {
  out = {-a.high, -a.low};
  return Undefined::None;
}

Undefined magnitude(const ScalarFunction &, Interval a, Interval &out) {
  if (a.low >= 0.0)
    out = a;
  else if (a.high <= 0.0)
    out = {-a.high, -a.low};
  else
    out = {0.0, std::max(-a.low, a.high)};
  return Undefined::None;
}

Undefined root(const ScalarFunction &, Interval a, Interval &out) {
  auto end = [](double x) {
    double r = std::sqrt(x);
    return std::isinf(r) || std::fma(r, r, -x) == 0.0
               ? Interval{r, r}
               : Interval{down(r), up(r)};
  };
  return checked({end(a.low).low, end(a.high).high}, out);
}

Undefined reciprocal(const ScalarFunction &, Interval a, Interval &out) {
  return divide({1.0, 1.0}, a, out);
}

Undefined trigonometric(const ScalarFunction &f, Interval a, Interval &out) {
  double middle = a.low + (a.high - a.low) / 2;
  double radius = up(std::max(middle - a.low, a.high - middle));
  if (!(radius < 2.0)) {
    out = {f.range.low, f.range.high};
    return std::isfinite(radius) ? Undefined::None : Undefined::NotANumber;
  }
  Interval value =
      widened(f.evaluate(middle) - radius, f.evaluate(middle) + radius);
  out = {std::max(value.low, f.range.low), std::min(value.high, f.range.high)};
  return Undefined::None;
}

Undefined step(const ScalarFunction &f, Interval a, Interval &out) {
  out = {f.evaluate(a.low), f.evaluate(a.high)};
  return out.low == out.high ? Undefined::None : Undefined::Ambiguous;
}

} // namespace interval

Undefined applyUnary(UnaryFn fn, Interval a, Interval &out) {
  const ScalarFunction &f = factsOf(fn);
  if (f.exact == ExactMeaning::None)
    return Undefined::NoMeaning;
  if (Undefined u = whyUndefined(f, a); u != Undefined::None)
    return u;
  return f.interval ? f.interval(f, a, out) : increasing(f, a, out);
}

Undefined applyBinary(BinaryFn fn, Interval a, Interval b, Interval &out) {
  switch (fn) {
  case BinaryFn::Add:
    return checked({sumOf(a.low, b.low).low, sumOf(a.high, b.high).high}, out);
  case BinaryFn::Sub:
    return checked({sumOf(a.low, -b.high).low, sumOf(a.high, -b.low).high},
                   out);
  case BinaryFn::Mul:
    return multiply(a, b, out);
  case BinaryFn::Div:
    return divide(a, b, out);
  case BinaryFn::Min:
    return checked({std::min(a.low, b.low), std::min(a.high, b.high)}, out);
  case BinaryFn::Max:
    return checked({std::max(a.low, b.low), std::max(a.high, b.high)}, out);
  case BinaryFn::Pow:
    return power(a, b, out);
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod: {
    Interval quotient;
    if (Undefined u = divide(a, b, quotient); u != Undefined::None)
      return u;
    if (Undefined u = applyUnary(UnaryFn::Floor, quotient, quotient);
        u != Undefined::None)
      return u;
    if (fn == BinaryFn::FloorDiv)
      return checked(quotient, out);
    Interval whole;
    if (Undefined u = multiply(quotient, b, whole); u != Undefined::None)
      return u;
    return applyBinary(BinaryFn::Sub, a, whole, out);
  }
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return Undefined::NoMeaning;
  }
  llvm_unreachable("unknown function");
}

Undefined applyCompare(ComparePredicate p, Interval a, Interval b, bool &out) {
  bool always, never;
  switch (p) {
  case ComparePredicate::EQ:
  case ComparePredicate::NE: {
    bool same = a.low == a.high && b.low == b.high && a.low == b.low;
    bool apart = a.high < b.low || b.high < a.low;
    always = p == ComparePredicate::EQ ? same : apart;
    never = p == ComparePredicate::EQ ? apart : same;
    break;
  }
  case ComparePredicate::LT:
    always = a.high < b.low;
    never = a.low >= b.high;
    break;
  case ComparePredicate::LE:
    always = a.high <= b.low;
    never = a.low > b.high;
    break;
  case ComparePredicate::GT:
    always = a.low > b.high;
    never = a.high <= b.low;
    break;
  case ComparePredicate::GE:
    always = a.low >= b.high;
    never = a.high < b.low;
    break;
  }
  out = always;
  return always || never ? Undefined::None : Undefined::Ambiguous;
}

Undefined toInt(Interval a, int64_t &out) {
  double low = std::trunc(a.low), high = std::trunc(a.high);
  if (low != high)
    return Undefined::Ambiguous;
  if (!(std::fabs(low) < 9.0e18))
    return Undefined::Overflow;
  out = static_cast<int64_t>(low);
  return Undefined::None;
}

Undefined narrow(unsigned, float (*round)(double), Interval a, Interval &out) {
  Interval rounded{round(a.low), round(a.high)};
  // A number beyond the type has no value in it.
  bool isLowBeyond = std::isfinite(a.low) && !std::isfinite(rounded.low),
       isHighBeyond = std::isfinite(a.high) && !std::isfinite(rounded.high);
  if (isLowBeyond || isHighBeyond) {
    out = rounded;
    return isLowBeyond && isHighBeyond ? Undefined::OutOfType
                                       : Undefined::Ambiguous;
  }
  return checked(rounded, out);
}

} // namespace mlc
