//===- MathTrigonometry.cpp - Trigonometric functions as arithmetic -------===//
//
// In f64 only. Methods: argument reduction by pi / 2 in three parts (Cody and
// Waite) or, for large arguments, by Payne and Hanek; then polynomials.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MathFunctions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <array>
#include <cmath>

using namespace mlir;

namespace mlc::cpu::elementary {

using Predicate = arith::CmpFPredicate;

namespace {
/// x = n pi / 2 + r with |r| <= pi / 4: n modulo 4 as an integer.
struct Turns {
  Value n, r;
};
} // namespace

/// By pi / 2 in three parts: for |x| up to `reduceLimit`.
static Turns reduceSmall(MathBuilder &m, Value x) {
  constexpr double magic = 6755399441055744.0;
  Value t = m.fma(x, 0.6366197723675814, m.constant(magic));
  Value n = m.sub(t, magic);
  Value r = m.fma(n, -0x1.921fb54442d18p+0, x);
  r = m.fma(n, -0x1.1a62633145c07p-54, r);
  r = m.fma(n, 0x1.f1976b7ed8fbcp-110, r);
  return {m.bits(t), r};
}
static constexpr double reduceLimit = 0x1p30;

/// 2 / pi after a word of zeros, so that every window is inside the table.
static constexpr uint64_t bitsOfTwoByPi[] = {0,
                                             0xa2f9836e4e441529,
                                             0xfc2757d1f534ddc0,
                                             0xdb6295993c439041,
                                             0xfe5163abdebbc561,
                                             0xb7246e3a424dd2e0,
                                             0x06492eea09d1921c,
                                             0xfe1deb1cb129a73e,
                                             0xe88235f52ebb4484,
                                             0xe99c7026b45f7e41,
                                             0x3991d639835339f4,
                                             0x9c845f8bbdf9283b,
                                             0x1ff897ffde05980f,
                                             0xef2f118b5a0a6d1f,
                                             0x6d367ecf27cb09b7,
                                             0x4f463f669e5fea2d,
                                             0x7527bac7ebe5f17b,
                                             0x3d0739f78a5292ea,
                                             0x6bfb5fb11f8d5d08,
                                             0x56033046fc7b6bab,
                                             0xf0cfbc209af4361d};

/// The three words of 2 / pi from bit `first` of the table on.
static std::array<Value, 3> wordsOfTwoByPi(MathBuilder &m, Value first) {
  using Or = arith::OrIOp;
  using Shl = arith::ShLIOp;
  using Shr = arith::ShRUIOp;
  constexpr int64_t numWords = std::size(bitsOfTwoByPi);
  auto table = VectorType::get({numWords}, m.b.getI64Type());
  Value words = arith::ConstantOp::create(
      m.b, m.loc, DenseElementsAttr::get(table, ArrayRef(bitsOfTwoByPi)));
  Value shift = m.integerOp<arith::AndIOp>(first, 63);
  Value index = arith::IndexCastOp::create(m.b, m.loc, m.b.getIndexType(),
                                           m.integerOp<Shr>(first, 6));
  auto word = [&](int64_t k) -> Value {
    Value at = arith::AddIOp::create(
        m.b, m.loc, index, arith::ConstantIndexOp::create(m.b, m.loc, k));
    // Infinities and NaN give any position; their result is NaN anyway.
    Value last = arith::ConstantIndexOp::create(m.b, m.loc, numWords - 1);
    at = arith::MinUIOp::create(m.b, m.loc, at, last);
    return vector::ExtractOp::create(m.b, m.loc, words, at);
  };
  Value w[4] = {word(0), word(1), word(2), word(3)};
  // Two shifts, as one by 64 is not defined.
  Value back = m.integerOp<arith::SubIOp>(m.integer(63), shift);
  auto window = [&](int k) -> Value {
    Value low = m.integerOp<Shr>(m.integerOp<Shr>(w[k + 1], 1), back);
    return m.integerOp<Or>(m.integerOp<Shl>(w[k], shift), low);
  };
  return {window(0), window(1), window(2)};
}

/// Reduces one large scalar by Payne and Hanek. Only x 2 / pi modulo 4 matters,
/// so x's mantissa times the 192 relevant bits of 2 / pi is computed modulo
/// 2^192.
static Turns reduceLarge(MathBuilder &m, Value x) {
  using Add = arith::AddIOp;
  using And = arith::AndIOp;
  using Or = arith::OrIOp;
  using Shl = arith::ShLIOp;
  using Shr = arith::ShRUIOp;
  Value bits = m.bits(m.abs(x));
  // x = mantissa 2^(exponent - 1075)
  Value exponent = m.integerOp<Shr>(bits, 52);
  Value mantissa = m.integerOp<Or>(
      m.integerOp<And>(bits, (int64_t(1) << 52) - 1), int64_t(1) << 52);
  // The first bit of the window, counted with the zeros: its weight times
  // mantissa's unit is 2.
  Value first = m.integerOp<Add>(exponent, 64 - 1075 - 2);
  auto high = [&](Value y) -> Value {
    return arith::MulUIExtendedOp::create(m.b, m.loc, mantissa, y).getHigh();
  };
  auto low = [&](Value y) -> Value {
    return m.integerOp<arith::MulIOp>(mantissa, y);
  };
  auto [top, middle, bottom] = wordsOfTwoByPi(m, first);
  // The two upper words of the product; a carry from the last is below the
  // precision that is needed.
  Value product1 = m.integerOp<Add>(low(middle), high(bottom));
  Value carry = arith::ExtUIOp::create(
      m.b, m.loc, m.intType(),
      arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::ult, product1,
                            low(middle)));
  Value product0 =
      m.integerOp<Add>(m.integerOp<Add>(low(top), high(middle)), carry);
  // Two bits of turns, then a fraction of one, taken as signed.
  Value fraction = m.integerOp<Or>(m.integerOp<Shl>(product0, 2),
                                   m.integerOp<Shr>(product1, 62));
  Value less = m.integerOp<Shl>(product1, 2);
  Value n = m.integerOp<Add>(m.integerOp<Shr>(product0, 62),
                             m.integerOp<Shr>(fraction, 63));
  Value r =
      m.mul(arith::SIToFPOp::create(m.b, m.loc, m.type, fraction), 0x1p-64);
  Value rest =
      m.mul(arith::UIToFPOp::create(m.b, m.loc, m.type, less), 0x1p-128);
  constexpr double halfPi = 0x1.921fb54442d18p+0, left = 0x1.1a62633145c07p-54;
  r = m.fma(r, halfPi, m.fma(r, left, m.mul(rest, halfPi)));
  Value negative = m.compare(Predicate::OLT, x, 0.0);
  n = m.select(negative, m.integerOp<arith::SubIOp>(m.integer(0), n), n);
  return {n, m.select(negative, m.neg(r), r)};
}

/// `turns`, with the large lanes of `x` reduced one by one: they are rare.
static Turns reduceLanes(MathBuilder &m, Value x, Turns turns) {
  Value isLarge = m.compare(Predicate::OGT, m.abs(x), reduceLimit);
  auto vector = dyn_cast<VectorType>(m.type);
  Value any = isLarge;
  if (vector)
    any = vector::ReductionOp::create(m.b, m.loc, vector::CombiningKind::OR,
                                      isLarge);
  auto branch = scf::IfOp::create(m.b, m.loc, TypeRange{m.intType(), m.type},
                                  any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(m.b);
  m.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(m.b, m.loc, ValueRange{turns.n, turns.r});
  m.b.setInsertionPointToStart(branch.thenBlock());
  if (!vector) {
    Turns large = reduceLarge(m, x);
    scf::YieldOp::create(m.b, m.loc, ValueRange{large.n, large.r});
    return {branch.getResult(0), branch.getResult(1)};
  }
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(m.b, m.loc, value);
  };
  auto loop =
      scf::ForOp::create(m.b, m.loc, index(0), index(vector.getNumElements()),
                         index(1), ValueRange{turns.n, turns.r});
  scf::YieldOp::create(m.b, m.loc, loop.getResults());
  m.b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar();
  MathBuilder one(m.b, m.loc, vector.getElementType());
  Turns large =
      reduceLarge(one, vector::ExtractOp::create(m.b, m.loc, x, lane));
  Value n = vector::InsertOp::create(m.b, m.loc, large.n,
                                     loop.getRegionIterArg(0), lane);
  Value r = vector::InsertOp::create(m.b, m.loc, large.r,
                                     loop.getRegionIterArg(1), lane);
  scf::YieldOp::create(m.b, m.loc, ValueRange{n, r});
  m.b.setInsertionPointAfter(branch);
  return {m.select(isLarge, branch.getResult(0), turns.n),
          m.select(isLarge, branch.getResult(1), turns.r)};
}

/// sin(x + quadrant * pi / 2).
static Value sinShifted(MathBuilder &m, Value x, int64_t quadrant) {
  Turns turns = reduceLanes(m, x, reduceSmall(m, x));
  Value r = turns.r;
  Value z = m.mul(r, r);
  SmallVector<double> sine, cosine;
  double factorial = 1;
  for (int k = 0; k <= 18; factorial *= ++k) {
    double sign = k / 2 % 2 ? -1 : 1;
    (k % 2 ? sine : cosine).push_back(sign / factorial);
  }
  Value s = m.mul(r, m.polynomial(z, sine));
  Value c = m.polynomial(z, cosine);
  Value turn = m.integerOp<arith::AddIOp>(turns.n, quadrant);
  auto bit = [&](int64_t mask) -> Value {
    Value masked = m.integerOp<arith::AndIOp>(turn, mask);
    return arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::ne, masked,
                                 m.integer(0));
  };
  Value value = m.select(bit(1), c, s);
  value = m.select(bit(2), m.neg(value), value);
  // Infinities have no sine.
  Value finite = m.compare(Predicate::OLT, m.abs(x), m.infinity());
  value = m.select(finite, value, m.nan());
  return quadrant == 0 ? m.keepZero(x, value) : value;
}

Value sin(MathBuilder &m, Value x) { return sinShifted(m, x, 0); }
Value cos(MathBuilder &m, Value x) { return sinShifted(m, x, 1); }

Value atan(MathBuilder &m, Value x) {
  // Halves the angle's range twice: 1/x above 1, (x - 1) / (x + 1) above
  // tan(pi / 8).
  Value magnitude = m.abs(x), one = m.constant(1.0);
  Value inverted = m.compare(Predicate::OGT, magnitude, 1.0);
  Value y = m.select(inverted, m.div(one, magnitude), magnitude);
  Value turned = m.compare(Predicate::OGT, y, 0.41421356237309503);
  Value r = m.select(turned, m.div(m.sub(y, 1.0), m.add(y, 1.0)), y);
  Value angle =
      m.mul(r, m.polynomial(m.mul(r, r),
                            {1.0000000000000002, -0.3333333333332714,
                             0.1999999999860469, -0.1428571415523457,
                             0.11111104729689174, -0.09090725765731772,
                             0.07689012899289832, -0.06628476436115376,
                             0.05595579629624431, -0.038998709796255034,
                             0.00903596439011873, 0.013978000236560876}));
  angle = m.select(turned, m.add(angle, 0.7853981633974483), angle);
  Value rest = m.sub(m.constant(1.5707963267948966), angle);
  return m.copySign(m.select(inverted, rest, angle), x);
}

Value asin(MathBuilder &m, Value x) {
  Value one = m.constant(1.0);
  Value square = m.mul(m.sub(one, x), m.add(one, x));
  Value root = math::SqrtOp::create(m.b, m.loc, square);
  return atan(m, m.div(x, root));
}

Value acos(MathBuilder &m, Value x) {
  Value one = m.constant(1.0);
  Value ratio = m.div(m.sub(one, x), m.add(one, x));
  Value root = math::SqrtOp::create(m.b, m.loc, ratio);
  return m.mul(atan(m, root), 2.0);
}

} // namespace mlc::cpu::elementary
