//===- Widen.cpp - Small floats in front of convolutions ------------------===//
//
// By its definition, a convolution of small floats computes in float32 and
// rounds once. Every element of its input is read many times, and would be
// widened each time. So the cast becomes an operator: it runs where the input
// is made (in the epilogue of the convolution before), weights are widened at
// compile time, and the convolution is an ordinary float32 one. A batch norm
// between convolutions becomes a scale and shift, with factors computed at
// compile time.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Graph/PoolingOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Layout/StoredForms.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlc;
using llvm::SmallVector;

namespace {

/// Operators that only select elements of their operands, so that they can be
/// widened before or after.
bool choosesElements(Operation *op) {
  return isa_and_nonnull<ConcatOp, SliceOp, TransposeOp, ReshapeOp, MaxPoolOp>(
             op) &&
         op->getNumResults() == 1;
}

/// One number per channel, repeated to the size of `x`.
Value perChannel(StoredForms &forms, Value numbers, Value x) {
  SmallVector<IntExpr> dims = sizesOf(x);
  SmallVector<IntExpr> pixel(dims.size(), forms.integer(1));
  pixel[1] = dims[1];
  return forms.create<BroadcastOp>(
      x.getLoc(), forms.reshape(x.getLoc(), numbers, pixel), forms.dims(dims));
}

/// x * factor + (bias - mean * factor) for factor = scale / sqrt(variance +
/// epsilon), as the definition of `norm` has it, of `operands` in its place.
/// Null if there is an open number of channels.
Value scaleAndShift(StoredForms &forms, BatchNormOp norm, ValueRange operands) {
  Location loc = norm.getLoc();
  Value x = operands[0];
  auto type = mlir::cast<RankedTensorType>(operands[4].getType());
  if (!type.hasStaticShape())
    return {};
  auto epsilon =
      FloatAttr::get(type.getElementType(), norm.getEpsilon().getDouble());
  Value least = forms.create<ConstantOp>(
      loc, DenseElementsAttr::get(type, epsilon.getValue()));
  Value variance = forms.create<AddOp>(loc, operands[4], least);
  Value deviation = forms.create<SqrtOp>(loc, variance);
  Value factor = forms.create<DivOp>(loc, operands[1], deviation);
  Value moved = forms.create<MulOp>(loc, operands[3], factor);
  Value shift = forms.create<SubOp>(loc, operands[2], moved);
  Value scaled = forms.create<MulOp>(loc, x, perChannel(forms, factor, x));
  return forms.create<AddOp>(loc, scaled, perChannel(forms, shift, x));
}

class Widening {
public:
  explicit Widening(StoredForms &forms, OpBuilder &builder)
      : forms(forms), builder(builder) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<ConvOp, BatchNormOp>(op) ||
          !isSmallFloat(getElementTypeOrSelf(op.getOperand(0))) ||
          !llvm::all_of(op.getOperands().drop_front(), isCompileTime))
        continue;
      auto conv = dyn_cast<ConvOp>(op);
      Value wide =
          conv ? convolve(conv) : normalize(mlir::cast<BatchNormOp>(op));
      if (wide)
        replace(op, wide);
    }
    // Sink the casts of consumers before those of producers.
    while (!casts.empty())
      sink(casts.pop_back_val());
  }

private:
  Value convert(Location loc, Value x, Type to) {
    return forms.create<CastOp>(loc, x, to);
  }

  /// `x` in float32; the cast is placed where `x` is defined.
  Value widened(Value x) {
    if (Value wide = wideOf.lookup(x))
      return wide;
    builder.setInsertionPointAfterValue(x);
    Value wide = convert(x.getLoc(), x, builder.getF32Type());
    if (wide) {
      casts.insert(wide.getDefiningOp());
      wideOf[x] = wide;
    }
    return wide;
  }

  /// Rounds `wide` to the result type of `op` and replaces the result by it.
  void replace(Operation &op, Value wide) {
    Type small = getElementTypeOrSelf(op.getResult(0).getType());
    Value rounded = convert(op.getLoc(), wide, small);
    if (!rounded)
      return;
    op.getResult(0).replaceAllUsesWith(rounded);
    op.erase();
  }

  Value convolve(ConvOp conv) {
    Value x = widened(conv.getX()), w = widened(conv.getW());
    if (!x || !w)
      return {};
    builder.setInsertionPoint(conv);
    return forms.createLike(conv, {x, w});
  }

  Value normalize(BatchNormOp norm) {
    SmallVector<Value> wide;
    for (Value operand : norm->getOperands()) {
      wide.push_back(widened(operand));
      if (!wide.back())
        return {};
    }
    builder.setInsertionPoint(norm);
    return scaleAndShift(forms, norm, wide);
  }

  /// Widens the operands of the op before the cast instead, if the cast is its
  /// only reader.
  void sink(Operation *widening) {
    Operation *op = widening->getOperand(0).getDefiningOp();
    if (!choosesElements(op) || !op->hasOneUse())
      return;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(widened(operand));
      if (!operands.back())
        return;
    }
    builder.setInsertionPoint(op);
    Value wide = forms.createLike(op, operands);
    if (!wide)
      return;
    widening->getResult(0).replaceAllUsesWith(wide);
    wideOf.erase(op->getResult(0));
    widening->erase();
    op->erase();
  }

  StoredForms &forms;
  OpBuilder &builder;
  llvm::DenseMap<Value, Value> wideOf;
  llvm::SetVector<Operation *> casts;
};

} // namespace

void mlc::scaleBatchNorms(StoredForms &forms, OpBuilder &builder,
                          Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto norm = dyn_cast<BatchNormOp>(op);
    if (!norm || !llvm::all_of(op.getOperands().drop_front(), isCompileTime))
      continue;
    builder.setInsertionPoint(norm);
    if (Value scaled = scaleAndShift(forms, norm, op.getOperands())) {
      norm.getResult().replaceAllUsesWith(scaled);
      norm.erase();
    }
  }
}

void mlc::widenConvolutions(StoredForms &forms, OpBuilder &builder,
                            Block &block) {
  Widening(forms, builder).run(block);
}
