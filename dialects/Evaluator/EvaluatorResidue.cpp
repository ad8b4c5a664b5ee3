//===- EvaluatorResidue.cpp - Arithmetic modulo a prime -------------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include <cmath>

namespace mlc {

namespace {

constexpr uint64_t prime = Residue::prime;

uint64_t reduce(unsigned __int128 x) {
  uint64_t r = static_cast<uint64_t>(x & prime) +
               static_cast<uint64_t>((x >> 61) & prime) +
               static_cast<uint64_t>(x >> 122);
  r = (r & prime) + (r >> 61);
  return r >= prime ? r - prime : r;
}

Residue times(Residue a, Residue b) {
  return {reduce(static_cast<unsigned __int128>(a.value) * b.value)};
}

Residue powerOf(Residue base, uint64_t exponent) {
  Residue result = {1};
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = times(result, base);
    base = times(base, base);
  }
  return result;
}

Residue hashed(uint64_t function, uint64_t a, uint64_t b = 0) {
  return {reduce(
      mix(mix(function * 0x2545f4914f6cdd1d + 1) ^ mix(a) ^ (mix(b) << 1)))};
}

} // namespace

Undefined fromInt(__int128 value, Residue &out) {
  bool negative = value < 0;
  unsigned __int128 magnitude = negative
                                    ? -static_cast<unsigned __int128>(value)
                                    : static_cast<unsigned __int128>(value);
  uint64_t r = reduce(magnitude);
  out = {negative && r ? prime - r : r};
  return Undefined::None;
}

Undefined fromDouble(double value, Residue &out) {
  if (!std::isfinite(value))
    return Undefined::NotANumber;
  int exponent;
  double fraction = std::frexp(value, &exponent);
  (void)fromInt(static_cast<int64_t>(std::ldexp(fraction, 53)), out);
  // 2^61 = 1, so powers of two are periodic.
  int shift = ((exponent - 53) % 61 + 61) % 61;
  out = times(out, {uint64_t(1) << shift});
  return Undefined::None;
}

Undefined applyUnary(UnaryFn fn, Residue a, Residue &out) {
  switch (fn) {
  case UnaryFn::Neg:
    out = {a.value ? prime - a.value : 0};
    return Undefined::None;
  case UnaryFn::Reciprocal:
    if (!a.value)
      return Undefined::DivisionByZero;
    out = powerOf(a, prime - 2);
    return Undefined::None;
  default:
    if (factsOf(fn).exact == ExactMeaning::None)
      return Undefined::NoMeaning;
    out = hashed(static_cast<uint64_t>(fn), a.value);
    return Undefined::None;
  }
}

Undefined applyBinary(BinaryFn fn, Residue a, Residue b, Residue &out) {
  switch (fn) {
  case BinaryFn::Add:
    out = {reduce(static_cast<unsigned __int128>(a.value) + b.value)};
    return Undefined::None;
  case BinaryFn::Sub:
    out = {reduce(static_cast<unsigned __int128>(a.value) + prime - b.value)};
    return Undefined::None;
  case BinaryFn::Mul:
    out = times(a, b);
    return Undefined::None;
  case BinaryFn::Div:
    if (!b.value)
      return Undefined::DivisionByZero;
    out = times(a, powerOf(b, prime - 2));
    return Undefined::None;
  case BinaryFn::Pow:
    out = b.value < 1024
              ? powerOf(a, b.value)
              : hashed(64 + static_cast<uint64_t>(fn), a.value, b.value);
    return Undefined::None;
  default:
    return Undefined::NoMeaning;
  }
}

Undefined applyCompare(ComparePredicate, Residue, Residue, bool &) {
  return Undefined::NoMeaning;
}

Undefined toInt(Residue, int64_t &) { return Undefined::NoMeaning; }

Undefined narrow(unsigned kind, float (*)(double), Residue a, Residue &out) {
  out = hashed(128 + kind, a.value);
  return Undefined::None;
}

} // namespace mlc
