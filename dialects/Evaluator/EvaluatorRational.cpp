//===- EvaluatorRational.cpp - Exact fractions ----------------------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include <cmath>

namespace mlc {

namespace {

using Wide = __int128;
using Magnitude = unsigned __int128;

Magnitude magnitude(Wide x) {
  return x < 0 ? -static_cast<Magnitude>(x) : static_cast<Magnitude>(x);
}

unsigned bitsOf(Wide x) {
  Magnitude m = magnitude(x);
  uint64_t high = static_cast<uint64_t>(m >> 64),
           low = static_cast<uint64_t>(m);
  return high  ? 128 - __builtin_clzll(high)
         : low ? 64 - __builtin_clzll(low)
               : 0;
}

Magnitude gcd(Magnitude a, Magnitude b) {
  while (b) {
    Magnitude rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// Conservative: accepts products of up to 126 bits.
bool multiply(Wide a, Wide b, Wide &out) {
  if (bitsOf(a) + bitsOf(b) > 126)
    return false;
  out = a * b;
  return true;
}

Undefined normalized(Wide numerator, Wide denominator, Rational &out) {
  Wide divisor = gcd(magnitude(numerator), magnitude(denominator));
  if (divisor > 1) {
    numerator /= divisor;
    denominator /= divisor;
  }
  out = denominator < 0 ? Rational{-numerator, -denominator}
                        : Rational{numerator, denominator};
  return Undefined::None;
}

Undefined add(Rational a, Rational b, Rational &out) {
  if (isInfinite(a) || isInfinite(b)) {
    if (isInfinite(a) && isInfinite(b) && a.numerator != b.numerator)
      return Undefined::NotANumber;
    out = isInfinite(a) ? a : b;
    return Undefined::None;
  }
  Wide common = gcd(magnitude(a.denominator), magnitude(b.denominator));
  Wide left, right, denominator;
  if (!multiply(a.numerator, b.denominator / common, left) ||
      !multiply(b.numerator, a.denominator / common, right) ||
      !multiply(a.denominator, b.denominator / common, denominator))
    return Undefined::Overflow;
  return normalized(left + right, denominator, out);
}

Undefined times(Rational a, Rational b, Rational &out) {
  if (isInfinite(a) || isInfinite(b)) {
    if (!a.numerator || !b.numerator)
      return Undefined::NotANumber;
    out = {(a.numerator < 0) == (b.numerator < 0) ? 1 : -1, 0};
    return Undefined::None;
  }
  Rational x, y;
  (void)normalized(a.numerator, b.denominator, x);
  (void)normalized(b.numerator, a.denominator, y);
  if (!multiply(x.numerator, y.numerator, out.numerator) ||
      !multiply(x.denominator, y.denominator, out.denominator))
    return Undefined::Overflow;
  return Undefined::None;
}

Undefined divide(Rational a, Rational b, Rational &out) {
  if (!b.numerator)
    return Undefined::DivisionByZero;
  if (isInfinite(b)) {
    out = {0, 1};
    return isInfinite(a) ? Undefined::NotANumber : Undefined::None;
  }
  Rational inverse = b.numerator < 0 ? Rational{-b.denominator, -b.numerator}
                                     : Rational{b.denominator, b.numerator};
  return times(a, inverse, out);
}

Wide floorOf(Rational a) {
  Wide quotient = a.numerator / a.denominator;
  return quotient * a.denominator > a.numerator ? quotient - 1 : quotient;
}

/// -1, 0 or 1; compares on a common denominator, infinities included.
Undefined order(Rational a, Rational b, int &out) {
  if (isInfinite(a) || isInfinite(b)) {
    Wide left = isInfinite(a) ? a.numerator : 0;
    Wide right = isInfinite(b) ? b.numerator : 0;
    out = left < right ? -1 : left > right ? 1 : 0;
    return Undefined::None;
  }
  Wide common = gcd(magnitude(a.denominator), magnitude(b.denominator));
  Wide left, right;
  if (!multiply(a.numerator, b.denominator / common, left) ||
      !multiply(b.numerator, a.denominator / common, right))
    return Undefined::Overflow;
  out = left < right ? -1 : left > right ? 1 : 0;
  return Undefined::None;
}

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A fixed positive fraction for a function's argument, small so that further
/// arithmetic stays exact.
Rational uninterpreted(uint64_t function, Rational a, Rational b = {0, 1}) {
  uint64_t h = mix(function);
  for (Wide part : {a.numerator, a.denominator, b.numerator, b.denominator}) {
    h = mix(h ^ static_cast<uint64_t>(part));
    h = mix(h ^ static_cast<uint64_t>(part >> 64));
  }
  Rational value;
  (void)normalized(1 + Wide((h >> 8) % 509), 1 + Wide(h % 8), value);
  return value;
}

std::optional<Wide> exactRoot(Wide x) {
  Wide r = static_cast<Wide>(std::sqrt(static_cast<double>(x)));
  for (Wide c = r - 1; c <= r + 1; ++c)
    if (c >= 0 && bitsOf(c) < 63 && c * c == x)
      return c;
  return std::nullopt;
}

Undefined power(Rational a, Rational b, Rational &out) {
  if (b.denominator == 1 && magnitude(b.numerator) < 64 && !isInfinite(a)) {
    Rational result = {1, 1};
    for (Magnitude n = magnitude(b.numerator); n > 0; --n)
      if (Undefined u = times(result, a, result); u != Undefined::None)
        return u;
    if (b.numerator < 0)
      return divide({1, 1}, result, out);
    out = result;
    return Undefined::None;
  }
  if (a.numerator < 0)
    return Undefined::NotANumber;
  out = uninterpreted(64, a, b);
  return Undefined::None;
}

} // namespace

bool isInfinite(Rational a) { return a.denominator == 0; }

double toDouble(Rational a) {
  return static_cast<double>(a.numerator) / static_cast<double>(a.denominator);
}

Undefined fromInt(__int128 value, Rational &out) {
  out = {value, 1};
  return Undefined::None;
}

Undefined fromDouble(double value, Rational &out) {
  if (std::isnan(value))
    return Undefined::NotANumber;
  if (std::isinf(value)) {
    out = {value > 0 ? 1 : -1, 0};
    return Undefined::None;
  }
  int exponent;
  Wide mantissa =
      static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  while (mantissa != 0 && mantissa % 2 == 0 && exponent < 0) {
    mantissa /= 2;
    ++exponent;
  }
  if (mantissa == 0)
    exponent = 0;
  if (exponent > 70 || exponent < -124)
    return Undefined::Overflow;
  out = exponent >= 0 ? Rational{mantissa * (Wide(1) << exponent), 1}
                      : Rational{mantissa, Wide(1) << -exponent};
  return Undefined::None;
}

Undefined applyUnary(UnaryFn fn, Rational a, Rational &out) {
  const ScalarFunction &f = factsOf(fn);
  if (f.exact == ExactMeaning::None)
    return Undefined::NoMeaning;
  // The nearest double of a quotient of small numbers has its sign.
  if (!f.isDefinedAt(toDouble(a)))
    return f.undefined;
  switch (fn) {
  case UnaryFn::Neg:
    out = {-a.numerator, a.denominator};
    return Undefined::None;
  case UnaryFn::Abs:
    out = {a.numerator < 0 ? -a.numerator : a.numerator, a.denominator};
    return Undefined::None;
  case UnaryFn::Reciprocal:
    return divide({1, 1}, a, out);
  default:
    break;
  }
  if (isInfinite(a) || !a.numerator) {
    double special = !a.numerator      ? f.atZero
                     : a.numerator < 0 ? f.atMinusInfinity
                                       : f.atInfinity;
    if (ScalarFunction::isWhole(special))
      return fromDouble(special, out);
    if (isInfinite(a))
      return Undefined::NotANumber;
  }
  switch (fn) {
  case UnaryFn::Floor:
    out = {floorOf(a), 1};
    return Undefined::None;
  case UnaryFn::Ceil:
    out = {-floorOf({-a.numerator, a.denominator}), 1};
    return Undefined::None;
  case UnaryFn::RoundEven: {
    Wide below = floorOf(a);
    Rational rest;
    if (Undefined u = add(a, {-below, 1}, rest); u != Undefined::None)
      return u;
    Wide twice = 2 * rest.numerator - rest.denominator;
    out = {below + (twice > 0 || (twice == 0 && below % 2 != 0) ? 1 : 0), 1};
    return Undefined::None;
  }
  case UnaryFn::Sqrt:
    if (std::optional<Wide> n = exactRoot(a.numerator))
      if (std::optional<Wide> d = exactRoot(a.denominator)) {
        out = {*n, *d};
        return Undefined::None;
      }
    break;
  default:
    break;
  }
  out = uninterpreted(static_cast<uint64_t>(fn), a);
  return Undefined::None;
}

Undefined applyBinary(BinaryFn fn, Rational a, Rational b, Rational &out) {
  switch (fn) {
  case BinaryFn::Add:
    return add(a, b, out);
  case BinaryFn::Sub:
    return add(a, {-b.numerator, b.denominator}, out);
  case BinaryFn::Mul:
    return times(a, b, out);
  case BinaryFn::Div:
    return divide(a, b, out);
  case BinaryFn::Min:
  case BinaryFn::Max: {
    int sign;
    if (Undefined u = order(a, b, sign); u != Undefined::None)
      return u;
    out = (sign < 0) == (fn == BinaryFn::Min) ? a : b;
    return Undefined::None;
  }
  case BinaryFn::Pow:
    return power(a, b, out);
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod: {
    Rational quotient, whole;
    if (Undefined u = divide(a, b, quotient); u != Undefined::None)
      return u;
    if (isInfinite(quotient))
      return Undefined::NotANumber;
    quotient = {floorOf(quotient), 1};
    if (fn == BinaryFn::FloorDiv) {
      out = quotient;
      return Undefined::None;
    }
    if (Undefined u = times(quotient, b, whole); u != Undefined::None)
      return u;
    return add(a, {-whole.numerator, whole.denominator}, out);
  }
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return Undefined::NoMeaning;
  }
  llvm_unreachable("unknown function");
}

Undefined applyCompare(ComparePredicate p, Rational a, Rational b, bool &out) {
  int sign;
  if (Undefined u = order(a, b, sign); u != Undefined::None)
    return u;
  switch (p) {
  case ComparePredicate::EQ:
    out = sign == 0;
    break;
  case ComparePredicate::NE:
    out = sign != 0;
    break;
  case ComparePredicate::LT:
    out = sign < 0;
    break;
  case ComparePredicate::LE:
    out = sign <= 0;
    break;
  case ComparePredicate::GT:
    out = sign > 0;
    break;
  case ComparePredicate::GE:
    out = sign >= 0;
    break;
  }
  return Undefined::None;
}

Undefined toInt(Rational a, int64_t &out) {
  if (isInfinite(a))
    return Undefined::Overflow;
  Wide quotient = a.numerator / a.denominator;
  if (bitsOf(quotient) > 62)
    return Undefined::Overflow;
  out = static_cast<int64_t>(quotient);
  return Undefined::None;
}

Undefined narrow(unsigned kind, float (*)(double), Rational a, Rational &out) {
  if (isInfinite(a)) {
    out = a;
    return Undefined::None;
  }
  out = uninterpreted(128 + kind, a);
  if (a.numerator < 0)
    out.numerator = -out.numerator;
  if (a.numerator == 0)
    out = {0, 1};
  return Undefined::None;
}

} // namespace mlc
