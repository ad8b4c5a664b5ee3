//===- Precision.cpp - Training with 16-bit floats ------------------------===//

#include "passes/Differentiate/Precision.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ContractionOps.h"
#include "dialects/Graph/ConvolutionOps.h"
#include "dialects/Graph/PointwiseOps.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Differentiate/Emit.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

static RankedTensorType withElements(Value value, Type type) {
  return getTensorType(*getDims(cast<RankedTensorType>(value.getType())), type);
}

FailureOr<Value> createCast(OpBuilder &builder, Location loc, Value value,
                            Type type) {
  if (getElementTypeOrSelf(value.getType()) == type)
    return value;
  auto cast = createOp<CastOp>(builder, loc, value, type);
  return failed(cast) ? FailureOr<Value>(failure())
                      : FailureOr<Value>(cast->getResult());
}

LogicalResult narrowProducts(func::FuncOp function, FactorType type) {
  if (type == FactorType::AsModel)
    return success();
  OpBuilder builder(function.getContext());
  Type wide = builder.getF32Type(), narrow = type == FactorType::F16
                                                 ? Type(builder.getF16Type())
                                                 : Type(builder.getBF16Type());
  SmallVector<Operation *> products;
  function.walk([&](Operation *op) {
    if (isa<MatMulOp, ConvOp, ConvTransposeOp>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()) == wide)
      products.push_back(op);
  });
  for (Operation *op : products) {
    builder.setInsertionPoint(op);
    for (OpOperand &factor : op->getOpOperands()) {
      auto rounded = createCast(builder, op->getLoc(), factor.get(), narrow);
      if (failed(rounded))
        return failure();
      factor.set(*rounded);
    }
    Value result = op->getResult(0);
    result.setType(withElements(result, narrow));
    builder.setInsertionPointAfter(op);
    auto widened = createCast(builder, op->getLoc(), result, wide);
    if (failed(widened))
      return failure();
    result.replaceAllUsesExcept(*widened, widened->getDefiningOp());
  }
  return success();
}

Type widenedType(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext())
                                       : type;
}

LogicalResult widenParameters(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    Type type = getElementTypeOrSelf(argument.getType());
    Type wide = widenedType(type);
    if (!function.getArgAttr(argument.getArgNumber(), kParameterAttr) ||
        wide == type)
      continue;
    argument.setType(withElements(argument, wide));
    auto rounded = createCast(builder, argument.getLoc(), argument, type);
    if (failed(rounded))
      return failure();
    argument.replaceAllUsesExcept(*rounded, rounded->getDefiningOp());
  }
  function.setType(FunctionType::get(
      function.getContext(), function.getBody().front().getArgumentTypes(),
      function.getResultTypes()));
  return success();
}

/// Emits one value of all `inputs`, defined by `describe`.
static FailureOr<Value>
emitOne(OpBuilder &builder, Location loc, ValueRange inputs,
        llvm::function_ref<unsigned(DefinitionBuilder &, ArrayRef<TensorShape>)>
            describe) {
  SmallVector<TensorShape> shapes;
  for (Value input : inputs)
    shapes.push_back(shapeOf(input));
  DefinitionBuilder b(builder.getContext(), shapes);
  b.result(describe(b, shapes));
  auto emitted = emitStages(builder, loc, b.take(), inputs);
  return failed(emitted) ? FailureOr<Value>(failure()) : (*emitted)[0];
}

FailureOr<Value> createUnscaled(OpBuilder &builder, Location loc, Value value,
                                Value scale) {
  return emitOne(builder, loc, {value, scale},
                 [](DefinitionBuilder &b, ArrayRef<TensorShape> shapes) {
                   Type type = shapes[0].elementType;
                   return b.stage(
                       "unscaled", shapes[0].dims, type, [&](ArrayRef<Expr> i) {
                         return b.read(0, i) / cast(b.read(1, {}), type);
                       });
                 });
}

FailureOr<Value> createIsFinite(OpBuilder &builder, Location loc,
                                ValueRange values) {
  auto describe = [](DefinitionBuilder &b, ArrayRef<TensorShape> shapes) {
    Type type = shapes[0].elementType;
    Expr zero = b.constant(type, 0), one = b.constant(type, 1);
    auto choose = [&](Expr condition) { return select(condition, one, zero); };
    SmallVector<unsigned> all;
    for (auto [i, shape] : llvm::enumerate(shapes))
      all.push_back(b.stage("finite", {}, type, [&](ArrayRef<Expr>) {
        return b.reduce(ReduceKind::Min, shape.dims, [&](ArrayRef<Expr> at) {
          return choose(compare(ComparePredicate::LT,
                                unary(UnaryFn::Abs, b.read(i, at)),
                                b.constant(type, INFINITY)));
        });
      }));
    // A tree, to keep expressions shallow. The minimum of nothing is infinite.
    while (all.size() > 1) {
      SmallVector<unsigned> both;
      for (unsigned i = 0; i + 1 < all.size(); i += 2)
        both.push_back(b.stage("both", {}, type, [&](ArrayRef<Expr>) {
          return binary(BinaryFn::Min, b.readStage(all[i], {}),
                        b.readStage(all[i + 1], {}));
        }));
      if (all.size() % 2 == 1)
        both.push_back(all.back());
      all = std::move(both);
    }
    return b.stage("result", {}, type, [&](ArrayRef<Expr>) {
      return choose(
          compare(ComparePredicate::GT, b.readStage(all[0], {}), zero));
    });
  };
  return emitOne(builder, loc, values, describe);
}

FailureOr<Value> createChoice(OpBuilder &builder, Location loc, Value condition,
                              Value after, Value before) {
  return emitOne(
      builder, loc, {condition, after, before},
      [](DefinitionBuilder &b, ArrayRef<TensorShape> shapes) {
        const TensorShape &shape = shapes[1];
        auto element = [&](ArrayRef<Expr> i) {
          Expr isTaken = compare(ComparePredicate::NE, b.read(0, {}),
                                 b.constant(shapes[0].elementType, 0));
          return select(isTaken, b.read(1, i), b.read(2, i));
        };
        return b.stage("kept", shape.dims, shape.elementType, element);
      });
}

} // namespace mlc
