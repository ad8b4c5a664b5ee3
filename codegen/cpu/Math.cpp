//===- Math.cpp - Elementary functions without a library ------------------===//
//
// The f32 versions of rare functions compute in f64.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Math.h"
#include "codegen/cpu/MathFunctions.h"
#include "dialects/Definition/Threefry.h"
#include "dialects/Graph/RandomOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace mlc::cpu {

static bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return (element.isF32() || element.isF64()) &&
         (isa<FloatType>(type) || isa<VectorType>(type));
}

namespace {
using BinaryFn = Value (*)(MathBuilder &, Value, Value);

/// Replaces an operation by its arithmetic.
struct ExpandUnary : RewritePattern {
  ExpandUnary(MLIRContext *context, const elementary::UnaryFunction &function)
      : RewritePattern(function.operation, /*benefit=*/10, context),
        function(function) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isExpandable(type))
      return failure();
    MathBuilder m(rewriter, op->getLoc(), type);
    Value x = op->getOperand(0);
    if (!function.inF64 || m.isF64) {
      rewriter.replaceOp(op, function.emit(m, x));
      return success();
    }
    MathBuilder wide(rewriter, op->getLoc(),
                     m.withElement(rewriter.getF64Type()));
    Value y = function.emit(
        wide, arith::ExtFOp::create(rewriter, op->getLoc(), wide.type, x));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, y);
    return success();
  }
  const elementary::UnaryFunction &function;
};

/// float64 to half precision through a float32 rounded to odd, so that only the
/// second rounding counts; LLVM would call a library function.
struct ExpandNarrowing : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType());
    if (!getElementTypeOrSelf(op.getIn().getType()).isF64() ||
        !(to.isF16() || to.isBF16()))
      return failure();
    Location loc = op.getLoc();
    MathBuilder m(rewriter, loc, op.getIn().getType());
    MathBuilder single(rewriter, loc, m.withElement(rewriter.getF32Type()));
    Value x = op.getIn();
    Value near = arith::TruncFOp::create(rewriter, loc, single.type, x);
    Value back = arith::ExtFOp::create(rewriter, loc, m.type, near);
    Value bits = single.bits(near);
    auto asInteger = [&](Value test) {
      return arith::ExtUIOp::create(rewriter, loc, bits.getType(), test);
    };
    // Round towards zero, and to odd if inexact.
    Value away = m.compare(MathBuilder::Predicate::OGT, m.abs(back), m.abs(x));
    bits = arith::SubIOp::create(rewriter, loc, bits, asInteger(away));
    Value inexact = m.compare(MathBuilder::Predicate::ONE, back, x);
    bits = arith::OrIOp::create(rewriter, loc, bits, asInteger(inexact));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 single.fromBits(bits));
    return success();
  }
};

/// Floats to small integers through 32 bits. A value out of range then still
/// gives a number of the type; LLVM's conversion assumes that it does not
/// occur.
template <typename Op> struct ExpandToInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
    if (width >= 32)
      return failure();
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Value wide = arith::FPToSIOp::create(rewriter, op.getLoc(),
                                         m.withElement(rewriter.getI32Type()),
                                         op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), wide);
    return success();
  }
};

/// Integers to bfloat16 through float64, which holds 32-bit integers exactly.
template <typename Op> struct ExpandFromInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16())
      return failure();
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Value wide = Op::create(rewriter, op.getLoc(),
                            m.withElement(rewriter.getF64Type()), op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

/// Replaces `Op` of two operands by `function`, always in f64; uses `forF32` if
/// the result has at most 32 bits.
template <typename Op> struct ExpandBinary : OpRewritePattern<Op> {
  ExpandBinary(MLIRContext *context, BinaryFn function, BinaryFn forF32)
      : OpRewritePattern<Op>(context, /*benefit=*/10), function(function),
        forF32(forF32) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!isExpandable(type))
      return failure();
    Location loc = op.getLoc();
    MathBuilder m(rewriter, loc, type);
    MathBuilder wide(rewriter, loc, m.withElement(rewriter.getF64Type()));
    auto widen = [&](Value x) -> Value {
      return m.isF64 ? x
                     : arith::ExtFOp::create(rewriter, loc, wide.type, x)
                           .getResult();
    };
    Value y = (m.isF64 ? function : forF32)(wide, widen(op->getOperand(0)),
                                            widen(op->getOperand(1)));
    if (!m.isF64)
      y = arith::TruncFOp::create(rewriter, loc, type, y);
    rewriter.replaceOp(op, y);
    return success();
  }
  BinaryFn function, forF32;
};

/// x^c for the constants that models use.
struct ExpandConstantPow : OpRewritePattern<math::PowFOp> {
  ExpandConstantPow(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/20) {}
  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat exponent(0.0f);
    if (!isExpandable(op.getType()) ||
        !matchPattern(op.getRhs(), m_ConstantFloat(&exponent)))
      return failure();
    bool ignored;
    exponent.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                     &ignored);
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Value x = op.getLhs(), value;
    double c = exponent.convertToDouble();
    if (c == 1)
      value = x;
    else if (c == 2)
      value = m.mul(x, x);
    else if (c == 3)
      value = m.mul(m.mul(x, x), x);
    else if (c == -1)
      value = m.div(m.constant(1.0), x);
    else
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// A value behind broadcasts to vectors and extractions from these.
Value scalarOf(Value value) {
  for (;;) {
    auto element = value.getDefiningOp<vector::ExtractOp>();
    Value vector = element ? element.getSource() : value;
    auto spread = vector.getDefiningOp<vector::BroadcastOp>();
    if (!spread || (element && spread.getSource().getType() != value.getType()))
      return value;
    value = spread.getSource();
  }
}

bool isOne(Value value) { return matchPattern(scalarOf(value), m_OneFloat()); }

/// 1 / (1 + exp(-x)), whose small values are lost to an overflow if computed
/// literally.
struct RecognizeSigmoid : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
    if (!sum || !isOne(op.getLhs()) || !isExpandable(op.getType()))
      return failure();
    bool oneFirst = isOne(sum.getLhs());
    if (!oneFirst && !isOne(sum.getRhs()))
      return failure();
    auto exp =
        (oneFirst ? sum.getRhs() : sum.getLhs()).getDefiningOp<math::ExpOp>();
    auto negative =
        exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : arith::NegFOp();
    if (!negative)
      return failure();
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, elementary::sigmoid(m, negative.getOperand()));
    return success();
  }
};

/// The other operand of a sum or product with a constant that `isWanted`.
Value otherThan(Operation *op, llvm::function_ref<bool(Value)> isWanted) {
  if (isWanted(op->getOperand(1)))
    return op->getOperand(0);
  return isWanted(op->getOperand(0)) ? op->getOperand(1) : Value();
}

bool isNumber(Value value, double wanted) {
  APFloat number(0.0), rounded(wanted);
  if (!matchPattern(scalarOf(value), m_ConstantFloat(&number)))
    return false;
  bool ignored;
  rounded.convert(number.getSemantics(), APFloat::rmNearestTiesToEven,
                  &ignored);
  return number.bitwiseIsEqual(rounded);
}

/// 1 + erf(x), which cancels below zero, as twice the normal distribution
/// function.
struct RecognizeNormalCdf : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    Value error = otherThan(op, isOne);
    Value inner =
        error ? elementary::argumentOfErrorFunction(scalarOf(error)) : Value();
    auto scaled = inner ? scalarOf(inner).getDefiningOp<arith::MulFOp>()
                        : arith::MulFOp();
    Value x = scaled ? otherThan(scaled,
                                 [](Value factor) {
                                   return isNumber(factor, 0.70710678118654752);
                                 })
                     : Value();
    if (!x || !isExpandable(op.getType()))
      return failure();
    // A value common to all lanes stays a scalar.
    if (x.getType() != op.getType())
      x = vector::BroadcastOp::create(rewriter, op.getLoc(), op.getType(), x);
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Value half = elementary::normalCdf(m, x);
    rewriter.replaceOp(op, m.add(half, half));
    return success();
  }
};

/// exp(x) - 1, which cancels near zero.
struct RecognizeExpm1 : OpRewritePattern<arith::SubFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SubFOp op,
                                PatternRewriter &rewriter) const override {
    auto exp = op.getLhs().getDefiningOp<math::ExpOp>();
    if (!exp || !isOne(op.getRhs()))
      return failure();
    rewriter.replaceOpWithNewOp<math::ExpM1Op>(op, exp.getOperand());
    return success();
  }
};

/// log(1 + x), which is 0 where the sum is rounded to 1.
struct RecognizeLog1p : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    auto sum = op.getOperand().getDefiningOp<arith::AddFOp>();
    Value x = sum ? otherThan(sum, isOne) : Value();
    if (!x)
      return failure();
    rewriter.replaceOpWithNewOp<math::Log1pOp>(op, x);
    return success();
  }
};

struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  ExpandRsqrt(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return failure();
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, m.div(m.constant(1.0), root));
    return success();
  }
};

/// Integer powers by squaring; modulo 2^w. A negative exponent gives the exact
/// value truncated (0 except for bases 1 and -1).
struct ExpandIntegerPow : OpRewritePattern<math::IPowIOp> {
  ExpandIntegerPow(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    auto constant = [&](int64_t value) -> Value {
      TypedAttr attr =
          rewriter.getIntegerAttr(getElementTypeOrSelf(type), value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(rewriter, loc, attr);
    };
    auto test = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
      return arith::CmpIOp::create(rewriter, loc, predicate, x, y);
    };
    auto select = [&](Value c, Value x, Value y) -> Value {
      return arith::SelectOp::create(rewriter, loc, c, x, y);
    };
    using P = arith::CmpIPredicate;
    Value zero = constant(0), one = constant(1), minusOne = constant(-1);
    Value base = op.getLhs(), exponent = op.getRhs();
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    auto loop = scf::ForOp::create(rewriter, loc, index(0), index(width),
                                   index(1), ValueRange{one, base, exponent});
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value power = loop.getRegionIterArg(0), square = loop.getRegionIterArg(1),
            left = loop.getRegionIterArg(2);
      Value bit = arith::AndIOp::create(rewriter, loc, left, one);
      Value product = arith::MulIOp::create(rewriter, loc, power, square);
      power = select(test(P::ne, bit, zero), product, power);
      square = arith::MulIOp::create(rewriter, loc, square, square);
      left = arith::ShRUIOp::create(rewriter, loc, left, one);
      scf::YieldOp::create(rewriter, loc, ValueRange{power, square, left});
    }
    Value odd = arith::AndIOp::create(rewriter, loc, exponent, one);
    Value alternating = select(test(P::ne, odd, zero), minusOne, one);
    Value inverse = select(test(P::eq, base, minusOne), alternating, zero);
    inverse = select(test(P::eq, base, one), one, inverse);
    rewriter.replaceOp(
        op, select(test(P::slt, exponent, zero), inverse, loop.getResult(0)));
    return success();
  }
};

/// Expands Threefry into its rounds on 32-bit words.
struct ExpandThreefry : OpRewritePattern<ThreefryOp> {
  ExpandThreefry(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {}

  /// Integers of one width and the shape of the operation.
  struct Words {
    OpBuilder &b;
    Location loc;
    Type type;

    Value number(uint64_t value) const {
      Type element = getElementTypeOrSelf(type);
      TypedAttr attr = b.getIntegerAttr(
          element, APInt(64, value).trunc(element.getIntOrFloatBitWidth()));
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(b, loc, attr);
    }
    Value add(Value x, Value y) const {
      return arith::AddIOp::create(b, loc, x, y);
    }
    Value exclusive(Value x, Value y) const {
      return arith::XOrIOp::create(b, loc, x, y);
    }
    Value unite(Value x, Value y) const {
      return arith::OrIOp::create(b, loc, x, y);
    }
    Value left(Value x, unsigned by) const {
      return arith::ShLIOp::create(b, loc, x, number(by));
    }
    Value right(Value x, unsigned by) const {
      return arith::ShRUIOp::create(b, loc, x, number(by));
    }
  };

  LogicalResult matchAndRewrite(ThreefryOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType(), half = rewriter.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      half = VectorType::get(vector.getShape(), half);
    Words words{rewriter, loc, half}, wide{rewriter, loc, type};
    auto low = [&](Value x) -> Value {
      return arith::TruncIOp::create(rewriter, loc, half, x);
    };
    auto high = [&](Value x) { return low(wide.right(x, 32)); };
    Value keys[3] = {low(op.getKey()), high(op.getKey()), {}};
    keys[2] = words.exclusive(words.number(threefryParity),
                              words.exclusive(keys[0], keys[1]));
    Value x = words.add(low(op.getCounter()), keys[0]);
    Value y = words.add(high(op.getCounter()), keys[1]);
    for (int round = 0; round < threefryRounds; ++round) {
      unsigned by = threefryRotations[round % 8];
      x = words.add(x, y);
      y = words.unite(words.left(y, by), words.right(y, 32 - by));
      y = words.exclusive(y, x);
      if (round % 4 != 3)
        continue;
      int turn = (round + 1) / 4;
      x = words.add(x, keys[turn % 3]);
      y = words.add(
          y, words.add(keys[(turn + 1) % 3], words.number(uint64_t(turn))));
    }
    auto widened = [&](Value word) -> Value {
      return arith::ExtUIOp::create(rewriter, loc, type, word);
    };
    rewriter.replaceOp(op, wide.unite(wide.left(widened(y), 32), widened(x)));
    return success();
  }
};
} // namespace

void populateMathRecognitionPatterns(RewritePatternSet &patterns) {
  patterns.add<RecognizeSigmoid, RecognizeNormalCdf, RecognizeExpm1,
               RecognizeLog1p>(patterns.getContext());
}

void populateMathExpansionPatterns(RewritePatternSet &patterns) {
  MLIRContext *ctx = patterns.getContext();
  for (const elementary::UnaryFunction &function : elementary::unaryFunctions())
    patterns.add<ExpandUnary>(ctx, function);
  patterns.add<ExpandBinary<math::PowFOp>>(ctx, elementary::pow,
                                           elementary::powForF32);
  patterns.add<ExpandBinary<arith::RemFOp>>(ctx, elementary::remainder,
                                            elementary::remainder);
  patterns
      .add<ExpandConstantPow, ExpandRsqrt, ExpandIntegerPow, ExpandThreefry,
           ExpandNarrowing, ExpandFromInteger<arith::SIToFPOp>,
           ExpandFromInteger<arith::UIToFPOp>, ExpandToInteger<arith::FPToSIOp>,
           ExpandToInteger<arith::FPToUIOp>>(ctx);
  // MLIR expands the rest.
  math::populateExpansionPatterns(patterns,
                                  {"tan", "asinh", "acosh", "atanh", "round"});
  populateMathPolynomialApproximationPatterns(patterns);
}

} // namespace mlc::cpu
