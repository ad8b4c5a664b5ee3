//===- Emit.cpp - Stages of a definition as operators ---------------------===//

#include "passes/Differentiate/Emit.h"
#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Interfaces/DefinitionText.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "passes/Differentiate/Named.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc {

TensorShape shapeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return {*getDims(type), type.getElementType()};
}

namespace {

/// A stage alone, with names that a text can have: symbols of a model may be
/// called anything.
class StageText {
public:
  StageText(const Definition &definition, const Stage &stage) {
    alone.numLoops = definition.numLoops;
    Stage copy = stage;
    copy.name = "Y";
    for (IntExpr &dim : copy.dims)
      dim = renamed(dim);
    Piece &piece = copy.pieces.front();
    for (Loop &loop : piece.loops)
      loop.extent = renamed(loop.extent);
    piece.body = translate(definition, piece.body);
    alone.stages.push_back(std::move(copy));
    alone.results.push_back(0);
    std::vector<std::string> names;
    for (unsigned i = 0; i < operands.size(); ++i)
      names.push_back("x" + std::to_string(i));
    text = printDefinition(alone, names);
  }

  FailureOr<Value> create(OpBuilder &builder, Location loc, const Stage &stage,
                          llvm::function_ref<Value(TensorId)> valueOf) const {
    MLIRContext *context = builder.getContext();
    SmallVector<Value> values;
    for (TensorId operand : operands)
      values.push_back(valueOf(operand));
    SmallVector<IntExpr> integers;
    for (const std::string &name : text.integers) {
      unsigned place = 0;
      bool isNumber = !StringRef(name).drop_front().getAsInteger(10, place);
      assert(isNumber && "all symbols were renamed");
      (void)isNumber;
      integers.push_back(IntExpr::symbol(context, symbols[place]));
    }
    SmallVector<Attribute> reals;
    for (const std::string &name : text.reals)
      reals.push_back(RealAttr::getSymbolic(context, name));
    FailureOr<ComputeOp> made =
        createOp<ComputeOp>(builder, loc, values, text.text,
                            DimsAttr::get(context, ArrayRef(stage.dims)),
                            DimsAttr::get(context, ArrayRef(integers)),
                            builder.getArrayAttr(reals), stage.elementType);
    if (failed(made))
      return failure();
    return made->getResult();
  }

private:
  IntExpr renamed(IntExpr expr) {
    return expr.substitute([&](StringRef name) {
      auto it = llvm::find(symbols, name);
      unsigned place = it - symbols.begin();
      if (it == symbols.end())
        symbols.push_back(name.str());
      return IntExpr::symbol(expr.getContext(), "n" + std::to_string(place));
    });
  }

  Expr translate(const Definition &definition, const Expr &expr) {
    // Texts have no reductions over no loop.
    if (expr->kind == Expr::Kind::Reduce && expr->loops.empty())
      return translate(definition, expr->operands[0]);
    ExprNode node = *expr;
    if (node.integer)
      node.integer = renamed(node.integer);
    for (Loop &loop : node.loops)
      loop.extent = renamed(loop.extent);
    for (Expr &operand : node.operands)
      operand = translate(definition, operand);
    if (node.kind == Expr::Kind::Read) {
      auto it = llvm::find(operands, node.tensor);
      unsigned place = it - operands.begin();
      if (it == operands.end()) {
        operands.push_back(node.tensor);
        TensorShape shape = definition.shapeOf(node.tensor);
        for (IntExpr &dim : shape.dims)
          dim = renamed(dim);
        alone.inputs.push_back(std::move(shape));
      }
      node.tensor = {false, place};
    }
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  }

  Definition alone;
  std::vector<TensorId> operands;
  std::vector<std::string> symbols;
  DefinitionText text;
};

} // namespace

FailureOr<Value> emitStage(OpBuilder &builder, Location loc,
                           const Definition &definition, const Stage &stage,
                           llvm::function_ref<Value(TensorId)> valueOf) {
  if (!stage.reinterprets)
    return StageText(definition, stage).create(builder, loc, stage, valueOf);
  FailureOr<ReshapeOp> reshape = createOp<ReshapeOp>(
      builder, loc, valueOf(*stage.reinterprets),
      DimsAttr::get(builder.getContext(), ArrayRef(stage.dims)));
  if (failed(reshape))
    return failure();
  return reshape->getResult();
}

FailureOr<SmallVector<Value>> emitStages(OpBuilder &builder, Location loc,
                                         const Definition &definition,
                                         ValueRange inputs) {
  SmallVector<Value> stages;
  auto valueOf = [&](TensorId id) {
    return id.isStage ? stages[id.index] : inputs[id.index];
  };
  for (const Stage &stage : definition.stages) {
    FailureOr<Value> value = Value();
    if (!stage.reinterprets)
      value = emitNamed(builder, loc, definition, stage, valueOf);
    if (succeeded(value) && !*value)
      value = emitStage(builder, loc, definition, stage, valueOf);
    if (failed(value))
      return failure();
    stages.push_back(*value);
  }
  SmallVector<Value> results;
  for (unsigned result : definition.results)
    results.push_back(stages[result]);
  return results;
}

} // namespace mlc
