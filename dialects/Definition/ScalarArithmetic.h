//===- ScalarArithmetic.h - Numbers of the evaluator's domains ---*- C++
//-*-===//
//
// Arithmetic on one element in the exact domains, and rounding of small floats.
// Every function returns why its value is undefined, or None.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_SCALARARITHMETIC_H
#define MLC_DIALECTS_DEFINITION_SCALARARITHMETIC_H

#include "dialects/Definition/ScalarFunctions.h"
#include "dialects/Symbolic/Enums.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/bit.h"

namespace mlc {

/// Reasons for an undefined element; kept in a byte beside each lane.
enum class Undefined : uint8_t {
  None = 0,
  OutOfRange,
  DivisionByZero,
  IntegerDivisionByZero, // also in values that are not read
  OutOfType,
  NegativeRoot,
  LogOfNonPositive,
  Ambiguous,
  Overflow,
  NotANumber,
  NoMeaning,
};
llvm::StringRef describe(Undefined reason);
/// Whether there is no value at all, rather than one that a domain cannot tell.
inline bool isSure(Undefined reason) {
  return reason != Undefined::None && reason < Undefined::Ambiguous;
}

/// splitmix64's step: a fixed function without structure.
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// An interval of reals; ends may be infinite.
struct Interval {
  double low, high;
};

/// numerator / denominator in lowest terms, denominator > 0; ±1/0 are the
/// infinities.
struct Rational {
  __int128 numerator, denominator;
};

/// A number of fingerprints (Guided.h). A NaN guide means no value.
struct Guided {
  uint64_t residue;
  uint64_t exponent;
  double guide;
};

/// An element of GF(2^61 - 1).
struct Residue {
  uint64_t value;
  static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;
};

/// `value` rounded to a float type: nearest, ties to even, infinite beyond the
/// largest number. Unchanged for other types.
double roundToType(mlir::Type type, double value);

/// `value` truncated to an integer type, or to a bool (whether it is not 0).
/// Out of range it saturates; NaN gives 0.
int64_t truncateToType(mlir::Type type, double value);

/// Round to nearest even and back.
float roundToHalf(float x);
float roundToBFloat(float x);
uint16_t halfBits(float x);
float halfValue(uint16_t bits);
inline float bfloatValue(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}
inline uint16_t bfloatBits(float x) {
  return llvm::bit_cast<uint32_t>(roundToBFloat(x)) >> 16;
}

/// Sums start here, products at one.
Undefined fromInt(__int128 value, Interval &out);
Undefined fromInt(__int128 value, Residue &out);
Undefined fromInt(__int128 value, Rational &out);
Undefined fromInt(__int128 value, Guided &out);
/// The exact value of a double (infinities only if the domain has them).
Undefined fromDouble(double value, Interval &out);
Undefined fromDouble(double value, Residue &out);
Undefined fromDouble(double value, Rational &out);
Undefined fromDouble(double value, Guided &out);

/// Extensions of functions for the table (ScalarFunction::interval).
namespace interval {
Undefined negate(const ScalarFunction &f, Interval a, Interval &out);
Undefined magnitude(const ScalarFunction &f, Interval a, Interval &out);
Undefined root(const ScalarFunction &f, Interval a, Interval &out);
Undefined reciprocal(const ScalarFunction &f, Interval a, Interval &out);
/// For a function with a Lipschitz constant of 1.
Undefined trigonometric(const ScalarFunction &f, Interval a, Interval &out);
/// For a step function; an interval must not contain a step.
Undefined step(const ScalarFunction &f, Interval a, Interval &out);
} // namespace interval

Undefined applyUnary(UnaryFn fn, Interval a, Interval &out);
Undefined applyUnary(UnaryFn fn, Residue a, Residue &out);
Undefined applyUnary(UnaryFn fn, Rational a, Rational &out);

Undefined applyBinary(BinaryFn fn, Interval a, Interval b, Interval &out);
Undefined applyBinary(BinaryFn fn, Residue a, Residue b, Residue &out);
Undefined applyBinary(BinaryFn fn, Rational a, Rational b, Rational &out);

Undefined applyCompare(ComparePredicate p, Interval a, Interval b, bool &out);
Undefined applyCompare(ComparePredicate p, Residue a, Residue b, bool &out);
Undefined applyCompare(ComparePredicate p, Rational a, Rational b, bool &out);
Undefined applyCompare(ComparePredicate p, Guided a, Guided b, bool &out);

/// Truncation to an integer.
Undefined toInt(Interval a, int64_t &out);
Undefined toInt(Residue a, int64_t &out);
Undefined toInt(Rational a, int64_t &out);
Undefined toInt(Guided a, int64_t &out);

/// Rounding to a narrower float type: monotone for intervals, uninterpreted in
/// the exact domains (never the identity), undefined for fingerprints. `kind`
/// identifies the pair of types.
Undefined narrow(unsigned kind, float (*round)(double), Interval a,
                 Interval &out);
Undefined narrow(unsigned kind, float (*round)(double), Residue a,
                 Residue &out);
Undefined narrow(unsigned kind, float (*round)(double), Rational a,
                 Rational &out);
Undefined narrow(unsigned kind, float (*round)(double), Guided a, Guided &out);

double toDouble(Rational a);
bool isInfinite(Rational a);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_SCALARARITHMETIC_H
