//===- MathFunctions.cpp - Elementary functions as arithmetic -------------===//
//
// Methods: argument reduction by a constant split into parts (Cody and Waite),
// then Taylor or Chebyshev polynomials on the reduced range.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MathFunctions.h"
#include <cmath>

using namespace mlir;

namespace mlc::cpu::elementary {

using Predicate = arith::CmpFPredicate;

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// ln 2 as a sum; the first part has zeros at its end, so that its products
/// with exponents are exact.
static double lnHigh(const MathBuilder &m) {
  return m.isF64 ? 0x1.62e42fefa3800p-1 : 0x1.62e400p-1;
}
static double lnLow(const MathBuilder &m) {
  return m.isF64 ? 0x1.ef35793c76730p-45 : 0x1.7f7d1cp-20;
}

namespace {
/// x = n ln 2 + r with |r| <= ln 2 / 2: n as an integer, and e^r - 1.
struct Reduced {
  Value n, expm1;
};
} // namespace

static Reduced reduceExp(MathBuilder &m, Value x) {
  // Adding 1.5 * 2^p rounds to an integer and leaves it in the low bits.
  double magic = m.isF64 ? 6755399441055744.0 : 12582912.0;
  Value t = m.fma(x, 1.4426950408889634, m.constant(magic));
  Value n = m.sub(t, magic);
  Value r = m.fma(n, -lnLow(m), m.fma(n, -lnHigh(m), x));
  // (e^r - 1 - r) / r^2.
  SmallVector<double> series;
  if (m.isF64) {
    double factorial = 2;
    for (int k = 2; k <= 13; factorial *= ++k)
      series.push_back(1 / factorial);
  } else {
    series = {0.5,
              0.1666666716337204,
              0.04166645556688309,
              0.008333297446370125,
              0.0013934534508734941,
              0.0001990043092519045};
  }
  Value q = m.polynomial(r, series);
  Value expm1 = m.fma(m.mul(r, r), q, r);
  Value integer = m.integerOp<arith::SubIOp>(
      m.bits(t), llvm::bit_cast<int64_t>(6755399441055744.0) * m.isF64 +
                     int64_t(llvm::bit_cast<int32_t>(12582912.0f)) * !m.isF64);
  return {integer, expm1};
}

/// 2^n for an exponent in the range of normal numbers.
static Value powerOfTwo(MathBuilder &m, Value n) {
  Value biased = m.integerOp<arith::AddIOp>(n, m.isF64 ? 1023 : 127);
  return m.fromBits(m.integerOp<arith::ShLIOp>(biased, m.isF64 ? 52 : 23));
}

Value exp(MathBuilder &m, Value x) {
  Value bounded =
      m.isF64 ? m.clamp(x, -746.0, 710.0) : m.clamp(x, -104.0, 89.0);
  Reduced reduced = reduceExp(m, bounded);
  // In two factors, so that overflow and gradual underflow come out right.
  Value half = m.integerOp<arith::ShRSIOp>(reduced.n, 1);
  Value rest = m.integerOp<arith::SubIOp>(reduced.n, half);
  Value mantissa = m.add(reduced.expm1, 1.0);
  return m.mul(m.mul(mantissa, powerOfTwo(m, half)), powerOfTwo(m, rest));
}

/// e^x - 1 without cancellation, for x below half the range of exponents.
static Value expm1Bounded(MathBuilder &m, Value x) {
  Reduced reduced = reduceExp(m, x);
  Value scale = powerOfTwo(m, reduced.n);
  return m.fma(scale, reduced.expm1, m.sub(scale, 1.0));
}

Value expm1(MathBuilder &m, Value x) {
  // Below -bound the value is -1; above the other one it overflows.
  Value bounded = m.isF64 ? m.clamp(x, -40.0, 710.0) : m.clamp(x, -20.0, 89.0);
  Reduced reduced = reduceExp(m, bounded);
  // Half of it, as the power of two itself may be out of range.
  Value scale = powerOfTwo(m, m.integerOp<arith::SubIOp>(reduced.n, 1));
  Value half = m.fma(scale, reduced.expm1, m.sub(scale, 0.5));
  return m.keepZero(x, m.add(half, half));
}

static Value exp2(MathBuilder &m, Value x) {
  return exp(m, m.mul(x, 0.6931471805599453));
}

Value sigmoid(MathBuilder &m, Value x) {
  // With the exponential of -|x|, which underflows where the result does.
  Value decay = exp(m, m.neg(m.abs(x)));
  Value negative = m.compare(Predicate::OLT, x, 0.0);
  Value numerator = m.select(negative, decay, m.constant(1.0));
  return m.div(numerator, m.add(decay, 1.0));
}

static Value tanh(MathBuilder &m, Value x) {
  // (e^2|x| - 1) / (e^2|x| + 1), which is 1 from the bound on.
  Value magnitude = m.abs(x);
  Value twice = m.clamp(m.add(magnitude, magnitude), 0.0, m.isF64 ? 40 : 20);
  Value t = expm1Bounded(m, twice);
  return m.copySign(m.div(t, m.add(t, 2.0)), x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// log x = exponent * ln 2 + log, log = log1p(fraction), which is
/// s (2 + tail) for s = fraction / (2 + fraction).
struct LogParts {
  Value exponent, log, fraction, tail;
};
} // namespace

/// log m for x = 2^e m, m in [sqrt(1/2), sqrt(2)), x positive and finite.
static LogParts logParts(MathBuilder &m, Value x) {
  int64_t mantissaBits = m.isF64 ? 52 : 23;
  double tiny = m.isF64 ? 0x1p-1022 : 0x1p-126;
  // Denormals are scaled into the normal range first.
  Value small = m.compare(Predicate::OLT, x, tiny);
  double lift = m.isF64 ? 0x1p54 : 0x1p25;
  x = m.select(small, m.mul(x, lift), x);
  Value correction =
      m.select(small, m.constant(m.isF64 ? -54 : -25), m.constant(0.0));
  Value bits = m.bits(x);
  // Rounds the exponent so that the mantissa is around 1.
  int64_t root = m.isF64 ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value shifted = m.integerOp<arith::SubIOp>(bits, root);
  Value e = m.integerOp<arith::ShRSIOp>(shifted, mantissaBits);
  Value mantissa = m.fromBits(m.integerOp<arith::SubIOp>(
      bits, m.integerOp<arith::ShLIOp>(e, mantissaBits)));
  Value exponent =
      m.add(arith::SIToFPOp::create(m.b, m.loc, m.type, e), correction);
  // log m = 2 atanh(s), s = f / (2 + f), f = m - 1
  //       = f - s (f - 2 (s^3 / 3 + ...) / s)
  Value f = m.sub(mantissa, 1.0);
  Value s = m.div(f, m.add(f, 2.0));
  Value z = m.mul(s, s);
  SmallVector<double> series;
  for (int k = 3; k <= (m.isF64 ? 25 : 11); k += 2)
    series.push_back(2.0 / k);
  Value tail = m.mul(z, m.polynomial(z, series));
  Value log = m.sub(f, m.mul(s, m.sub(f, tail)));
  return {exponent, log, f, tail};
}

/// The values of all logarithms outside (0, inf).
static Value logEdges(MathBuilder &m, Value x, Value value) {
  Value zero = m.compare(Predicate::OEQ, x, 0.0);
  value = m.select(zero, m.neg(m.infinity()), value);
  Value negative = m.compare(Predicate::OLT, x, 0.0);
  value = m.select(negative, m.nan(), value);
  // Infinity and NaN are their own logarithms.
  Value finite = m.compare(Predicate::OLT, x, m.infinity());
  return m.select(finite, value, x);
}

static Value log(MathBuilder &m, Value x) {
  LogParts parts = logParts(m, x);
  Value value = m.fma(parts.exponent, lnLow(m), parts.log);
  value = m.fma(parts.exponent, lnHigh(m), value);
  return logEdges(m, x, value);
}

static Value logTimes(MathBuilder &m, Value x, double factor) {
  return m.mul(log(m, x), factor);
}
static Value log2(MathBuilder &m, Value x) {
  LogParts parts = logParts(m, x);
  return logEdges(m, x, m.fma(parts.log, 1.4426950408889634, parts.exponent));
}
static Value log10(MathBuilder &m, Value x) {
  return logTimes(m, x, 0.4342944819032518);
}

static Value log1p(MathBuilder &m, Value x) {
  // 1 + x = u + rest exactly, so log(1 + x) is log(u) + rest / u.
  Value u = m.add(x, 1.0);
  Value back = m.sub(u, 1.0);
  Value lost = m.sub(m.constant(1.0), m.sub(u, back));
  Value rest = m.div(m.add(lost, m.sub(x, back)), u);
  LogParts parts = logParts(m, u);
  Value low = m.add(m.fma(parts.exponent, lnLow(m), parts.log), rest);
  Value value = m.fma(parts.exponent, lnHigh(m), low);
  return m.keepZero(x, logEdges(m, u, value));
}

//===----------------------------------------------------------------------===//
// Error function
//===----------------------------------------------------------------------===//

static Value erf(MathBuilder &m, Value x) {
  Value magnitude = m.abs(x);
  // Below 1: x P(x^2).
  SmallVector<double> inner;
  if (m.isF64) {
    double factorial = 1;
    for (int k = 0; k < 20; factorial *= -(++k))
      inner.push_back(2 / std::sqrt(M_PI) / (factorial * (2 * k + 1)));
  } else {
    inner = {1.128379167062361,      -0.3761263847599014,
             0.11283782622047146,    -0.026865438309701183,
             0.005221053410333501,   -0.0008484396519194106,
             0.00011268253668881241, -9.673590170065557e-06};
  }
  Value small =
      m.mul(magnitude, m.polynomial(m.mul(magnitude, magnitude), inner));
  // From 1 on: 1 - t e^(P(t) - x^2), t = 2 / (2 + x).
  Value bounded = m.clamp(magnitude, 1.0, m.isF64 ? 6.0 : 4.0);
  Value t = m.div(m.constant(2.0), m.add(bounded, 2.0));
  SmallVector<double> outer;
  if (m.isF64)
    outer = {-1.2655138961053551, 1.0000659996901455,   0.3738664069827848,
             0.09523533890435396, -0.17123558744745562, 0.29723534931097345,
             -1.784903733681846,  4.9185056129070865,   -10.477391591075481,
             17.17310863179611,   -19.632540746036064,  14.890512148886401,
             -7.149396366007004,  1.9685966027495627,   -0.23613324918675174};
  else
    outer = {-1.2666002446736682, 1.0149077609838797,   0.29269028471208985,
             0.30968824120458593, -0.37576110954924774, -0.09371308476004017,
             0.12046580209516697};
  Value exponent = m.sub(m.polynomial(t, outer), m.mul(bounded, bounded));
  Value large = m.sub(m.constant(1.0), m.mul(t, exp(m, exponent)));
  // NaN compares false both ways: keep the branch that carries it.
  Value isLarge = m.compare(Predicate::OGE, magnitude, 1.0);
  return m.copySign(m.select(isLarge, large, small), x);
}

/// Q(t) = e^(-t^2 / 2) g(u) / (t + c) for t >= 0, g a polynomial in
/// u = (t - c) / (t + c), interpolated in Chebyshev's points.
static Value normalTail(MathBuilder &m, Value t) {
  static constexpr double single[] = {
      0.7444160580635071,    -0.565561830997467,      0.3154250979423523,
      -0.11605138331651688,  0.017405597493052483,    0.006480099633336067,
      -0.003174643497914076, -0.00045547139598056674, 0.0004347614594735205,
      6.892394594615325e-05, -2.652661169122439e-05};
  static constexpr double twice[] = {
      0.769193049750063,      -0.6653825028900567,    0.49530561596997635,
      -0.31353315667130427,   0.1650203661703885,     -0.06911863870631743,
      0.020795066799800505,   -0.0029933767704363543, -0.0007978693975527749,
      0.0005448990645443929,  -5.937573378576788e-05, -4.97628152960914e-05,
      1.6681235760536204e-05, 3.9809132539483415e-06, -2.7693178940658227e-06,
      -3.366553434006179e-07, 4.3320814509461146e-07, 4.234868865108004e-08,
      -6.598338057567389e-08, -9.383289422981605e-09, 7.662518442534819e-09,
      1.7799257411525282e-09, -1.4967015945146105e-10};
  double c = m.isF64 ? 5.0 : 3.5;
  t = m.clamp(t, 0.0, m.isF64 ? 38.6 : 14.6);
  Value above = m.add(t, c);
  Value u = m.div(m.sub(t, c), above);
  Value g = m.polynomial(u, m.isF64 ? ArrayRef(twice) : ArrayRef(single));
  g = m.div(g, above);
  // The exact square, in two parts: a large exponent magnifies rounding.
  Value square = m.mul(t, t);
  Value rest = m.fma(t, t, m.neg(square));
  g = m.fma(m.mul(rest, -0.5), g, g);
  return m.mul(exp(m, m.mul(square, -0.5)), g);
}

Value argumentOfErrorFunction(Value value) {
  auto function = value.getDefiningOp<math::ErfOp>();
  return function ? function.getOperand() : Value();
}

Value normalCdf(MathBuilder &m, Value x) {
  Value tail = normalTail(m, m.abs(x));
  Value negative = m.compare(Predicate::OLT, x, 0.0);
  return m.select(negative, tail, m.sub(m.constant(1.0), tail));
}

//===----------------------------------------------------------------------===//
// f64 only: powers, remainder
//===----------------------------------------------------------------------===//

/// (e^|x| + sign e^-|x|) / 2, without early overflow.
static Value hyperbolic(MathBuilder &m, Value magnitude, bool isSine) {
  Value half = exp(m, m.mul(magnitude, 0.5));
  Value large = m.mul(m.mul(half, 0.5), half);
  Value t = expm1Bounded(m, m.clamp(magnitude, 0.0, 30.0));
  Value inverse = m.div(t, m.add(t, 1.0));
  // (t + t / (t + 1)) / 2, and 1 + (t - t / (t + 1)) / 2.
  Value small = isSine ? m.mul(m.add(t, inverse), 0.5)
                       : m.fma(m.sub(t, inverse), 0.5, m.constant(1.0));
  return m.select(m.compare(Predicate::OGT, magnitude, 30.0), large, small);
}

static Value sinh(MathBuilder &m, Value x) {
  return m.copySign(hyperbolic(m, m.abs(x), true), x);
}
static Value cosh(MathBuilder &m, Value x) {
  return hyperbolic(m, m.abs(x), false);
}

/// |x|^y by a logarithm in two parts: an exponent of hundreds magnifies what
/// rounding one part loses.
static Value preciseMagnitude(MathBuilder &m, Value x, Value y) {
  LogParts parts = logParts(m, x);
  // 2 atanh(s) with s = f / (2 + f) in two parts.
  Value f = parts.fraction;
  Value divisor = m.add(f, 2.0);
  Value lost = m.sub(f, m.sub(divisor, 2.0));
  Value s = m.div(f, divisor);
  Value rest = m.fma(m.neg(s), lost, m.fma(m.neg(s), divisor, f));
  Value low = m.fma(s, parts.tail, m.mul(m.div(rest, divisor), 2.0));
  Value high = m.mul(s, 2.0);
  // The first part of e ln 2 is exact, and it is 0 or larger than `high`.
  Value multiple = m.mul(parts.exponent, lnHigh(m));
  Value sum = m.add(multiple, high);
  low = m.add(low, m.sub(high, m.sub(sum, multiple)));
  low = m.fma(parts.exponent, lnLow(m), low);
  Value whole = m.add(sum, low);
  low = m.sub(low, m.sub(whole, sum));
  Value log = logEdges(m, x, whole);
  Value product = m.mul(y, log);
  Value error = m.fma(y, low, m.fma(y, log, m.neg(product)));
  Value value = exp(m, product);
  Value corrected = m.fma(value, error, value);
  // No correction near infinities.
  Value isSmall = m.compare(Predicate::OLT, m.abs(error), 1.0);
  Value isFinite = m.compare(Predicate::OLT, value, m.infinity());
  return m.select(isSmall, m.select(isFinite, corrected, value), value);
}

/// Signs and special values (C, F.10.4.4), given |x|^y.
static Value powOfMagnitude(MathBuilder &m, Value x, Value y, Value value) {
  Value magnitude = m.abs(x);
  // Integer exponents: odd ones keep the sign of x.
  Value whole = math::TruncOp::create(m.b, m.loc, y);
  Value isInteger = m.compare(Predicate::OEQ, whole, y);
  Value halfY = m.mul(y, 0.5);
  Value halfWhole = math::TruncOp::create(m.b, m.loc, halfY);
  Value isEven = m.compare(Predicate::OEQ, halfWhole, halfY);
  Value signedValue = m.copySign(value, x);
  Value negative = m.compare(Predicate::OLT, x, 0.0);
  Value invalid = m.select(isInteger, value, m.nan());
  // An infinite base takes any exponent.
  Value infinite = m.compare(Predicate::OEQ, magnitude, m.infinity());
  invalid = m.select(infinite, value, invalid);
  value = m.select(negative, invalid, value);
  Value odd = m.select(isEven, value, signedValue);
  value = m.select(isInteger, odd, value);
  // 1^y and (-1)^(+-inf) are 1, as is x^0; also for NaN.
  Value one = m.constant(1.0);
  Value yInfinite = m.compare(Predicate::OEQ, m.abs(y), m.infinity());
  Value unit = m.compare(Predicate::OEQ, magnitude, 1.0);
  value = m.select(unit, m.select(yInfinite, one, value), value);
  value = m.select(m.compare(Predicate::OEQ, x, 1.0), one, value);
  return m.select(m.compare(Predicate::OEQ, y, 0.0), one, value);
}

Value pow(MathBuilder &m, Value x, Value y) {
  return powOfMagnitude(m, x, y, preciseMagnitude(m, m.abs(x), y));
}

Value powForF32(MathBuilder &m, Value x, Value y) {
  return powOfMagnitude(m, x, y, exp(m, m.mul(y, log(m, m.abs(x)))));
}

/// fmod: the sign of x, |result| < |y|. Exact while the quotient is below
/// 2^53.
Value remainder(MathBuilder &m, Value x, Value y) {
  Value a = m.abs(x), d = m.abs(y);
  Value q = math::TruncOp::create(m.b, m.loc, m.div(a, d));
  Value r = m.fma(m.neg(q), d, a);
  // The quotient may have been rounded up, or down to the next integer.
  r = m.select(m.compare(Predicate::OLT, r, 0.0), m.add(r, d), r);
  r = m.select(m.compare(Predicate::OGE, r, d), m.sub(r, d), r);
  Value infinite = m.compare(Predicate::OEQ, d, m.infinity());
  Value finiteX = m.compare(Predicate::OLT, a, m.infinity());
  r = m.select(infinite, m.select(finiteX, a, m.nan()), r);
  return m.copySign(r, x);
}

llvm::ArrayRef<UnaryFunction> unaryFunctions() {
  static constexpr UnaryFunction functions[] = {
      {"math.exp", exp},
      {"math.exp2", exp2, /*inF64=*/true},
      {"math.expm1", expm1},
      {"math.tanh", tanh},
      {"math.log", log},
      {"math.log2", log2, /*inF64=*/true},
      {"math.log10", log10, /*inF64=*/true},
      {"math.log1p", log1p},
      {"math.erf", erf},
      {"math.sin", sin, /*inF64=*/true},
      {"math.cos", cos, /*inF64=*/true},
      {"math.atan", atan, /*inF64=*/true},
      {"math.asin", asin, /*inF64=*/true},
      {"math.acos", acos, /*inF64=*/true},
      {"math.sinh", sinh, /*inF64=*/true},
      {"math.cosh", cosh, /*inF64=*/true},
  };
  return functions;
}

} // namespace mlc::cpu::elementary
