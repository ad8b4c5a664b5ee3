//===- Rules.cpp - Hand-written gradients ---------------------------------===//

#include "passes/Differentiate/Rules.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Derivative/AdjointTerms.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "passes/Differentiate/Convolution.h"
#include "passes/Differentiate/Emit.h"
#include "passes/Differentiate/Products.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

/// The gradient of softmax or its logarithm, from the result alone: y (dy - sum
/// y dy), and dy - exp(y) sum dy. The subtracted maximum cancels. A row without
/// a cotangent contributes nothing, whatever y is there.
static FailureOr<SmallVector<Value>> softmaxGradient(OpBuilder &builder,
                                                     Operation *op,
                                                     unsigned axis, bool isLog,
                                                     Value cotangent) {
  Value y = op->getResult(0);
  auto type = cast<RankedTensorType>(y.getType());
  SmallVector<IntExpr> dims = *getDims(type), sums = dims;
  sums[axis] = IntExpr::constant(builder.getContext(), 1);
  TensorShape shape{dims, type.getElementType()};
  DefinitionBuilder b(builder.getContext(), {shape, shape});
  unsigned sum = b.stage("sum", sums, shape.elementType, [&](ArrayRef<Expr> i) {
    return b.reduce(ReduceKind::Sum, {dims[axis]}, [&](ArrayRef<Expr> r) {
      SmallVector<Expr> at(i);
      at[axis] = r[0];
      Expr dy = b.read(1, at);
      return isLog ? dy : adjoint::times(dy, b.read(0, at));
    });
  });
  b.result(b.stage("dx", dims, shape.elementType, [&](ArrayRef<Expr> i) {
    SmallVector<Expr> at(i);
    at[axis] = b.index(0);
    Expr total = b.readStage(sum, at), dy = b.read(1, i), own = b.read(0, i);
    return isLog ? dy - adjoint::times(total, unary(UnaryFn::Exp, own))
                 : adjoint::times(dy - total, own);
  }));
  return emitStages(builder, op->getLoc(), b.take(), {y, cotangent});
}

/// Adds the cotangent at the picked positions, in time linear in its size;
/// out-of-range indices picked 0 and add nothing.
static FailureOr<SmallVector<Value>>
gatherGradient(OpBuilder &builder, GatherOp op, Value cotangent) {
  auto type = op.getX().getType();
  FailureOr<FillOp> zeros = createOp<FillOp>(
      builder, op.getLoc(), DimsAttr::get(builder.getContext(), *getDims(type)),
      RealAttr::get(builder.getContext(), 0.0), type.getElementType());
  if (failed(zeros))
    return failure();
  FailureOr<ScatterAddOp> sum =
      createOp<ScatterAddOp>(builder, op.getLoc(), zeros->getResult(),
                             op.getIndices(), cotangent, op.getAxis());
  if (failed(sum))
    return failure();
  return SmallVector<Value>{sum->getResult(), Value()};
}

/// What an opaque operator says itself.
static FailureOr<SmallVector<Value>>
opaqueGradients(OpBuilder &builder, OpaqueOpInterface op,
                ArrayRef<Value> cotangents) {
  auto emit = [&](Definition definition,
                  ValueRange inputs) -> FailureOr<Value> {
    auto made = emitStages(builder, op.getLoc(), definition, inputs);
    if (failed(made))
      return failure();
    return made->front();
  };
  return op.createGradients(builder, cotangents, emit);
}

FailureOr<SmallVector<Value>> gradientsByRule(OpBuilder &builder, Operation *op,
                                              ArrayRef<Value> cotangents,
                                              ArrayRef<bool> wanted) {
  if (auto opaque = dyn_cast<OpaqueOpInterface>(op))
    return opaqueGradients(builder, opaque, cotangents);
  Value cotangent = cotangents.front();
  if (auto conv = dyn_cast<ConvOp>(op))
    return convolutionGradients(builder, conv, cotangent, wanted);
  if (auto transposed = dyn_cast<ConvTransposeOp>(op))
    return transposedConvolutionGradients(builder, transposed, cotangent,
                                          wanted);
  if (auto broadcast = dyn_cast<BroadcastOp>(op); broadcast && cotangent) {
    FailureOr<Value> value =
        repeatedFactorGradient(builder, broadcast, cotangent);
    if (failed(value))
      return failure();
    return SmallVector<Value>{*value};
  }
  if (auto gather = dyn_cast<GatherOp>(op); gather && wanted[0])
    return gatherGradient(builder, gather, cotangent);
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return softmaxGradient(builder, op, softmax.getAxis(), false, cotangent);
  if (auto softmax = dyn_cast<LogSoftmaxOp>(op))
    return softmaxGradient(builder, op, softmax.getAxis(), true, cotangent);
  return SmallVector<Value>();
}

} // namespace mlc
