//===- ContractionFactor.cpp - The factors of a contraction ---------------===//
//
// A factor is an argument of the kernel, or a pad of one where the caller reads
// bounds. It may then be read at quotients, too: the transpose of a convolution
// with strides has a product for every position of its kernel, with zero
// instead of an element where a division has a remainder.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/ContractionMatcher.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace mlc {

Value argumentOf(Value factor) {
  auto inverse = factor.getDefiningOp<exec::InverseTransformOp>();
  return inverse ? inverse.getForm() : factor;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// An integer of a body as an expression of its loops; null for others.
static AffineExpr asAffine(Value v) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), v.getContext());
  Operation *op = v.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), v.getContext());
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                       arith::FloorDivSIOp, arith::RemUIOp>(op))
    return {};
  AffineExpr lhs = asAffine(op->getOperand(0));
  AffineExpr rhs = asAffine(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::SubIOp>(op))
    return lhs - rhs;
  auto by = dyn_cast<AffineConstantExpr>(rhs);
  if (!by || by.getValue() < 1)
    return {};
  if (isa<arith::MulIOp>(op))
    return lhs * rhs;
  return isa<arith::RemUIOp>(op) ? lhs % rhs : lhs.floorDiv(rhs);
}

/// Adds to `zeros` the expressions that must be zero for `condition` to hold;
/// false if the condition has another form.
static bool readZeros(Value condition, Exprs &zeros) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return readZeros(both.getLhs(), zeros) && readZeros(both.getRhs(), zeros);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return false;
  AffineExpr expr = asAffine(compare.getLhs());
  if (!expr)
    return false;
  zeros.push_back(expr);
  return true;
}

static bool isZero(Value v) {
  return matchPattern(v, m_PosZeroFloat()) || matchPattern(v, m_Zero());
}

bool isGuardedContraction(Operation *op) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || linalg.getNumReductionLoops() == 0 ||
      linalg.getNumDpsInputs() < 2 || linalg.getNumDpsInits() != 1)
    return false;
  Operation *add =
      linalg.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  return llvm::any_of(add->getOperands(), [](Value term) {
    Operation *product = term.getDefiningOp();
    return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) &&
           llvm::any_of(product->getOperands(), [](Value factor) {
             return factor.getDefiningOp<arith::SelectOp>();
           });
  });
}

/// Equal expressions of loops become one; maps leave out loops of one trip.
AffineExpr ContractionMatcher::simplify(AffineExpr e) {
  SmallVector<AffineExpr> values;
  for (auto [d, trips] : llvm::enumerate(anchor.getStaticLoopRanges()))
    values.push_back(trips == 1 ? getAffineConstantExpr(0, ctx)
                                : getAffineDimExpr(d, ctx));
  return simplifyAffineExpr(e.replaceDims(values), values.size(), 0);
}

/// Follows casts from a factor of the product down to a block argument, and a
/// choice between it and zero.
BlockArgument
ContractionMatcher::factorBehind(Value v, SmallVectorImpl<Operation *> &casts) {
  Exprs zeros;
  while (Operation *op = v.getDefiningOp()) {
    auto select = dyn_cast<arith::SelectOp>(op);
    if (select && readsBounds && zeros.empty() &&
        isZero(select.getFalseValue()) &&
        readZeros(select.getCondition(), zeros)) {
      v = select.getTrueValue();
      continue;
    }
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp>(op))
      return {};
    casts.insert(casts.begin(), op);
    v = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(v);
  for (AffineExpr &zero : zeros)
    zero = simplify(zero);
  if (argument.getArgNumber() < 2)
    remainders[argument.getArgNumber()] = zeros;
  return argument;
}

/// The body must be `yield acc + cast(a)·cast(b)`.
LogicalResult ContractionMatcher::matchBody() {
  Block &body = anchor->getRegion(0).front();
  BlockArgument acc = body.getArguments().back();
  Operation *add = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return fail("the contraction's body does not end in an addition");
  int other = add->getOperand(0) == acc   ? 1
              : add->getOperand(1) == acc ? 0
                                          : -1;
  if (other < 0)
    return fail("the contraction does not add to its output");
  Operation *mul = add->getOperand(other).getDefiningOp();
  if (!mul || !isa<arith::MulFOp, arith::MulIOp>(mul))
    return fail("the contraction does not add a product");
  SmallVector<Operation *> casts[2];
  BlockArgument a = factorBehind(mul->getOperand(0), casts[0]);
  BlockArgument b = factorBehind(mul->getOperand(1), casts[1]);
  if (!a || !b || a == b || a == acc || b == acc)
    return fail("the product is not of the two inputs");
  bool inOrder = a.getArgNumber() == 0;
  c.xCasts = casts[inOrder ? 0 : 1];
  c.wCasts = casts[inOrder ? 1 : 0];
  c.accumulator = acc.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// The access
//===----------------------------------------------------------------------===//

/// The pad that makes a factor, where the caller reads through it.
tensor::PadOp ContractionMatcher::padBefore(Value factor) const {
  return readsBounds ? factor.getDefiningOp<tensor::PadOp>() : tensor::PadOp();
}

/// The index `e` of a factor as a quotient whose remainder the body checks;
/// nullopt if it is none.
std::optional<Quotient> ContractionMatcher::quotient(OpOperand &operand,
                                                     AffineExpr e) {
  unsigned number = operand.getOperandNumber();
  Quotient result{e, 1, 0};
  auto sum = dyn_cast<AffineBinaryOpExpr>(e);
  if (sum && e.getKind() == AffineExprKind::Add)
    if (auto shift = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      result.shift = shift.getValue();
      e = sum.getLHS();
    }
  auto division = dyn_cast<AffineBinaryOpExpr>(e);
  if (number > 1 || !division || e.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
  if (!divisor || divisor.getValue() < 1)
    return std::nullopt;
  result.value = division.getLHS();
  result.divisor = divisor.getValue();
  AffineExpr remainder = simplify(result.value % result.divisor);
  if (!llvm::is_contained(remainders[number], remainder))
    return std::nullopt;
  return result;
}

/// The value of a factor outside its bounds: its pad's value, or zero if it is
/// read at quotients; else null.
FailureOr<TypedAttr> ContractionMatcher::outsideOf(Value factor,
                                                   bool hasQuotients) {
  TypedAttr value;
  if (tensor::PadOp pad = padBefore(factor)) {
    Attribute padding;
    if (!pad.getConstantPaddingValue() ||
        !matchPattern(pad.getConstantPaddingValue(), m_Constant(&padding)))
      return fail("a pad's value is not a constant");
    if (hasQuotients && !isZero(pad.getConstantPaddingValue()))
      return fail("a pad's value is not what remainders give");
    value = cast<TypedAttr>(padding);
  } else if (hasQuotients) {
    value = Builder(ctx).getZeroAttr(getElementTypeOrSelf(factor.getType()));
  }
  return value;
}

/// The access of a factor of the anchor.
LogicalResult ContractionMatcher::factor(OpOperand &operand, Access &result) {
  ArrayRef<AffineExpr> indices =
      anchor.getMatchingIndexingMap(&operand).getResults();
  SmallVector<std::optional<Quotient>> quotients;
  int64_t common = 1;
  size_t numQuotients = 0;
  for (AffineExpr e : indices) {
    quotients.push_back(quotient(operand, e));
    if (!quotients.back())
      continue;
    common = std::lcm(common, quotients.back()->divisor);
    ++numQuotients;
  }
  if (numQuotients != remainders[operand.getOperandNumber()].size())
    return fail("a remainder is asked of what is no index");
  // Over a common divisor, exact quotients are linear.
  Exprs at;
  for (auto [e, q] : llvm::zip_equal(indices, quotients))
    at.push_back(q ? splitExpr(q->value) * (common / q->divisor) +
                         q->shift * common
                   : splitExpr(e) * common);
  Value value = operand.get();
  tensor::PadOp pad = padBefore(value);
  Value source = pad ? pad.getSource() : value;
  auto a = access(argumentOf(source), at, kernel.shapeOf(source));
  FailureOr<TypedAttr> outside = outsideOf(value, numQuotients != 0);
  if (failed(a) || failed(outside))
    return failure();
  result = *a;
  result.element = getElementTypeOrSelf(value.getType());
  result.divisor = common;
  result.padValue = *outside;
  Shape strides = rowMajorStrides(kernel.shapeOf(source), ctx);
  for (unsigned d = 0; d < at.size(); ++d) {
    const std::optional<Quotient> &q = quotients[d];
    IntExpr low = pad ? kernel.asExpr(pad.getMixedLowPad()[d]) : constant(0);
    IntExpr high = pad ? kernel.asExpr(pad.getMixedHighPad()[d]) : constant(0);
    if (!low || !high)
      return fail("a pad's width is no expression of the symbols");
    result.offset = result.offset - strides[d] * low * common;
    if (!q && low.isConstant(0) && high.isConstant(0))
      continue;
    // The index of this dim alone, as an access to a row.
    Access index;
    int64_t divisor = q ? q->divisor : 1;
    index.offset = (constant(q ? q->shift : 0) - low) * divisor;
    index.strides.assign(c.dims.size(), constant(0));
    if (failed(addLinear(q ? splitExpr(q->value) : splitExpr(indices[d]),
                         constant(1), index)))
      return fail("an index map is not linear");
    result.bounds.push_back({index.offset, kernel.shapeOf(source)[d] * divisor,
                             index.strides, divisor});
  }
  return success();
}

} // namespace mlc
