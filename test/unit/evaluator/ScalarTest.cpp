//===- ScalarTest.cpp - Numbers of the evaluator's domains ----------------===//

#include "dialects/Definition/ScalarArithmetic.h"
#include "llvm/ADT/APFloat.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace mlc;

namespace {

uint16_t halfByApFloat(float x) {
  llvm::APFloat value(x);
  bool lost;
  value.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.bitcastToAPInt().getZExtValue();
}

uint16_t bfloatByApFloat(float x) {
  llvm::APFloat value(x);
  bool lost;
  value.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.bitcastToAPInt().getZExtValue();
}

bool isNan(uint16_t half) { return (half & 0x7fff) > 0x7c00; }

Rational fraction(int64_t n, int64_t d) {
  Rational a = {n, 1}, b = {d, 1}, out;
  REQUIRE(applyBinary(BinaryFn::Div, a, b, out) == Undefined::None);
  return out;
}

bool same(Rational a, Rational b) {
  return a.numerator == b.numerator && a.denominator == b.denominator;
}

} // namespace

TEST_CASE("every half converts to float and back") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = bits;
    if (isNan(half)) {
      CHECK(std::isnan(halfValue(half)));
      continue;
    }
    if (halfBits(halfValue(half)) != half)
      FAIL("half " << bits);
  }
}

TEST_CASE("floats round to half and bfloat as APFloat rounds them") {
  // Bit patterns spread over all exponents, and neighbours of ties.
  for (uint64_t i = 0; i < (uint64_t(1) << 32); i += 9973) {
    float x = llvm::bit_cast<float>(static_cast<uint32_t>(i));
    if (std::isnan(x))
      continue;
    if (halfBits(x) != halfByApFloat(x) || bfloatBits(x) != bfloatByApFloat(x))
      FAIL("float " << x);
  }
  for (float x : {2049.0f, 2051.0f, 65519.9f, 65520.0f, 5.9604645e-8f,
                  2.9802322e-8f, 2.98023224e-8f, -0.0f})
    CHECK(halfBits(x) == halfByApFloat(x));
}

TEST_CASE("intervals hold the real result and no more than they must") {
  Interval a, b, out;
  REQUIRE(fromDouble(0.1, a) == Undefined::None);
  REQUIRE(fromDouble(0.2, b) == Undefined::None);
  REQUIRE(applyBinary(BinaryFn::Add, a, b, out) == Undefined::None);
  // 0.1 + 0.2 is not a double: the bounds are neighbours.
  CHECK(out.low < out.high);
  CHECK(std::nextafter(out.low, 1.0) == out.high);
  REQUIRE(applyBinary(BinaryFn::Add, {1, 1}, {2, 2}, out) == Undefined::None);
  CHECK((out.low == 3 && out.high == 3));
  CHECK(applyBinary(BinaryFn::Div, {1, 1}, {0, 0}, out) ==
        Undefined::DivisionByZero);
  CHECK(applyBinary(BinaryFn::Div, {1, 1}, {-1, 1}, out) ==
        Undefined::Ambiguous);
  CHECK(applyUnary(UnaryFn::Sqrt, Interval{-2, -1}, out) ==
        Undefined::NegativeRoot);
  CHECK(applyUnary(UnaryFn::Log, Interval{-1, 0}, out) ==
        Undefined::LogOfNonPositive);
  CHECK(applyUnary(UnaryFn::Floor, Interval{0.9, 1.1}, out) ==
        Undefined::Ambiguous);
  REQUIRE(applyBinary(BinaryFn::Mul, {-2, 3}, {-5, 7}, out) == Undefined::None);
  CHECK((out.low == -15 && out.high == 21));
}

TEST_CASE("residues form a field") {
  Residue a{123456789123456789u % Residue::prime}, inverse, one;
  REQUIRE(applyUnary(UnaryFn::Reciprocal, a, inverse) == Undefined::None);
  REQUIRE(applyBinary(BinaryFn::Mul, a, inverse, one) == Undefined::None);
  CHECK(one.value == 1);
  Residue half, two, sum;
  REQUIRE(fromDouble(0.5, half) == Undefined::None);
  REQUIRE(fromInt(2, two) == Undefined::None);
  REQUIRE(applyBinary(BinaryFn::Mul, half, two, one) == Undefined::None);
  CHECK(one.value == 1);
  Residue minus;
  REQUIRE(fromInt(-5, minus) == Undefined::None);
  REQUIRE(applyBinary(BinaryFn::Add, minus, {5}, sum) == Undefined::None);
  CHECK(sum.value == 0);
  CHECK(applyBinary(BinaryFn::Div, a, {0}, sum) == Undefined::DivisionByZero);
  Residue tiny, back;
  REQUIRE(fromDouble(0x1p-200, tiny) == Undefined::None);
  REQUIRE(fromDouble(0x1p200, back) == Undefined::None);
  REQUIRE(applyBinary(BinaryFn::Mul, tiny, back, one) == Undefined::None);
  CHECK(one.value == 1);
}

TEST_CASE("fractions are exact, ordered and checked") {
  Rational sum;
  REQUIRE(applyBinary(BinaryFn::Add, fraction(1, 6), fraction(1, 10), sum) ==
          Undefined::None);
  CHECK(same(sum, fraction(4, 15)));
  bool less = false;
  REQUIRE(applyCompare(ComparePredicate::LT, fraction(1, 3), fraction(34, 100),
                       less) == Undefined::None);
  CHECK(less);
  Rational out;
  REQUIRE(applyUnary(UnaryFn::Floor, fraction(-7, 2), out) == Undefined::None);
  CHECK(same(out, {-4, 1}));
  REQUIRE(applyUnary(UnaryFn::Ceil, fraction(-7, 2), out) == Undefined::None);
  CHECK(same(out, {-3, 1}));
  REQUIRE(applyUnary(UnaryFn::RoundEven, fraction(5, 2), out) ==
          Undefined::None);
  CHECK(same(out, {2, 1}));
  REQUIRE(applyUnary(UnaryFn::Sqrt, fraction(9, 4), out) == Undefined::None);
  CHECK(same(out, fraction(3, 2)));
  // Uninterpreted, but a function.
  Rational again;
  REQUIRE(applyUnary(UnaryFn::Exp, fraction(3, 7), out) == Undefined::None);
  REQUIRE(applyUnary(UnaryFn::Exp, fraction(6, 14), again) == Undefined::None);
  CHECK(same(out, again));
  Rational large = {__int128(1) << 100, 1};
  CHECK(applyBinary(BinaryFn::Mul, large, large, out) == Undefined::Overflow);
  // The identity of a maximum.
  Rational minusInfinity;
  REQUIRE(fromDouble(-INFINITY, minusInfinity) == Undefined::None);
  REQUIRE(applyBinary(BinaryFn::Max, minusInfinity, {-5, 1}, out) ==
          Undefined::None);
  CHECK(same(out, {-5, 1}));
}
