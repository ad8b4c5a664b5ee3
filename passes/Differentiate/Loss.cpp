//===- Loss.cpp - The number that training makes small --------------------===//

#include "passes/Differentiate/Loss.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Graph/ReductionOps.h"
#include "passes/Base/Remedy.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

FailureOr<RankedTensorType> targetTypeOf(LossKind kind, Location loc,
                                         RankedTensorType output,
                                         unsigned axis) {
  if (!isa<FloatType>(output.getElementType()))
    return emitError(loc) << "a loss needs an output of floats, not of "
                          << output.getElementType();
  switch (kind) {
  case LossKind::Output: {
    SmallVector<IntExpr> dims = *getDims(output);
    if (!llvm::all_of(dims, [](IntExpr dim) { return dim.isConstant(1); }))
      return emitError(loc) << "is no loss, which is a single number"
                            << Remedy{Remedy::Kind::ChooseLoss};
    return RankedTensorType();
  }
  case LossKind::MeanSquares:
    return output;
  case LossKind::CrossEntropy: {
    SmallVector<IntExpr> dims = *getDims(output);
    dims.erase(dims.begin() + axis);
    return getTensorType(dims, IntegerType::get(output.getContext(), 64));
  }
  }
  llvm_unreachable("no such loss");
}

static IntExpr countOf(ArrayRef<IntExpr> dims, MLIRContext *context) {
  IntExpr count = IntExpr::constant(context, 1);
  for (IntExpr dim : dims)
    count = count * dim;
  return count;
}

static FailureOr<Value> emitOne(OpBuilder &builder, Location loc,
                                DefinitionBuilder &b, ValueRange inputs) {
  auto values = emitStages(builder, loc, b.take(), inputs);
  return failed(values) ? FailureOr<Value>(failure()) : (*values)[0];
}

/// The mean over sums of rows, so that many elements lose no precision.
static FailureOr<Value> createMeanSquares(OpBuilder &builder, Location loc,
                                          Value output, Value target) {
  TensorShape shape = shapeOf(output);
  DefinitionBuilder b(builder.getContext(), {shape, shape});
  Type type = shape.elementType;
  b.result(b.stage("loss", {}, type, [&](ArrayRef<Expr>) {
    Expr sum = b.reduce(ReduceKind::Sum, shape.dims, [&](ArrayRef<Expr> i) {
      Expr difference = b.read(0, i) - b.read(1, i);
      return difference * difference;
    });
    return sum /
           cast(b.integer(countOf(shape.dims, builder.getContext())), type);
  }));
  return emitOne(builder, loc, b, {output, target});
}

static FailureOr<Value> createCrossEntropy(OpBuilder &builder, Location loc,
                                           Value output, Value target,
                                           unsigned axis, Value given) {
  auto logs = createOp<LogSoftmaxOp>(builder, loc, output,
                                     builder.getI64IntegerAttr(axis));
  if (failed(logs))
    return failure();
  TensorShape shape = shapeOf(output), labels = shapeOf(target);
  SmallVector<TensorShape> shapes{shape, labels};
  SmallVector<Value> inputs{logs->getResult(), target};
  if (given) {
    shapes.push_back(shapeOf(given));
    inputs.push_back(given);
  }
  DefinitionBuilder b(builder.getContext(), shapes);
  Type type = shape.elementType;
  auto isCounted = [&](ArrayRef<Expr> i) {
    return compare(ComparePredicate::GE, b.read(1, i),
                   b.constantInt(labels.elementType, 0));
  };
  Expr zero = b.constant(type, 0);
  unsigned sum = b.stage("sum", {}, type, [&](ArrayRef<Expr>) {
    return b.reduce(ReduceKind::Sum, labels.dims, [&](ArrayRef<Expr> i) {
      SmallVector<Expr> at(i);
      at.insert(at.begin() + axis,
                cast(b.read(1, i), IndexType::get(builder.getContext())));
      // An invalid class has no probability: its loss is NaN.
      Expr log = b.readOr(0, at, b.constant(type, NAN));
      return select(isCounted(i), -log, zero);
    });
  });
  std::optional<unsigned> count;
  if (!given)
    count = b.stage("count", {}, type, [&](ArrayRef<Expr>) {
      return b.reduce(ReduceKind::Sum, labels.dims, [&](ArrayRef<Expr> i) {
        return select(isCounted(i), b.constant(type, 1), zero);
      });
    });
  b.result(b.stage("loss", {}, type, [&](ArrayRef<Expr>) {
    return b.readStage(sum, {}) /
           (count ? b.readStage(*count, {}) : b.read(2, {}));
  }));
  return emitOne(builder, loc, b, inputs);
}

FailureOr<Value> createRightCount(OpBuilder &builder, Location loc,
                                  Value output, Value target, unsigned axis) {
  auto classes =
      createOp<ArgMaxOp>(builder, loc, output, builder.getI64IntegerAttr(axis));
  if (failed(classes))
    return failure();
  Type type = shapeOf(output).elementType;
  DefinitionBuilder b(builder.getContext(),
                      {shapeOf(classes->getResult()), shapeOf(target)});
  b.result(b.stage("right", {}, type, [&](ArrayRef<Expr>) {
    return b.reduce(ReduceKind::Sum, b.dims(1), [&](ArrayRef<Expr> i) {
      SmallVector<Expr> at(i);
      at.insert(at.begin() + axis, b.index(0));
      // Labels that do not count are negative, which no class is.
      return select(compare(ComparePredicate::EQ, b.read(0, at), b.read(1, i)),
                    b.constant(type, 1), b.constant(type, 0));
    });
  }));
  return emitOne(builder, loc, b, {classes->getResult(), target});
}

FailureOr<Value> createLoss(OpBuilder &builder, Location loc, LossKind kind,
                            Value output, Value target, unsigned axis,
                            Value count) {
  switch (kind) {
  case LossKind::Output: {
    if (cast<RankedTensorType>(output.getType()).getRank() == 0)
      return output;
    auto reshape = createOp<ReshapeOp>(
        builder, loc, output,
        DimsAttr::get(builder.getContext(), ArrayRef<IntExpr>()));
    return failed(reshape) ? FailureOr<Value>(failure())
                           : FailureOr<Value>(reshape->getResult());
  }
  case LossKind::MeanSquares:
    return createMeanSquares(builder, loc, output, target);
  case LossKind::CrossEntropy:
    return createCrossEntropy(builder, loc, output, target, axis, count);
  }
  llvm_unreachable("no such loss");
}

} // namespace mlc
