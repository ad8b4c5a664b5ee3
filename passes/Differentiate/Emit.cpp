//===- Emit.cpp - Stages of a definition as operators ---------------------===//

#include "passes/Differentiate/Emit.h"
#include "dialects/Definition/DefinitionText.h"
#include "dialects/Definition/OpInterfaces.h"
#include "dialects/Graph/ComputeOps.h"
#include "dialects/Graph/MovementOps.h"
#include "passes/Differentiate/Named.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc {

namespace {

Expr make(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

/// A stage and its operands as a separate definition.
class StageAlone {
public:
  StageAlone(const Definition &definition, const Stage &stage) {
    alone.numLoops = definition.numLoops;
    Stage copy = stage;
    copy.pieces.front().body = translate(definition, copy.pieces.front().body);
    alone.stages.push_back(std::move(copy));
    alone.results.push_back(0);
  }

  Definition alone;
  std::vector<TensorId> operands;

private:
  Expr translate(const Definition &definition, const Expr &expr) {
    ExprNode node = *expr;
    for (Expr &operand : node.operands)
      operand = translate(definition, operand);
    if (node.kind == Expr::Kind::Read) {
      auto it = llvm::find(operands, node.tensor);
      unsigned place = it - operands.begin();
      if (it == operands.end()) {
        operands.push_back(node.tensor);
        alone.inputs.push_back(definition.shapeOf(node.tensor));
      }
      node.tensor = {false, place};
    }
    return make(std::move(node));
  }
};

/// A definition with names that are valid in a text, because symbols of a model
/// may have any name.
class Renaming {
public:
  explicit Renaming(Definition &definition) {
    unsigned last = definition.stages.size() - 1;
    for (auto [s, stage] : llvm::enumerate(definition.stages)) {
      stage.name = s == last ? "Y" : "T" + std::to_string(s);
      rename(stage.dims);
      rename(stage.pieces.front().loops);
      stage.pieces.front().body = rename(stage.pieces.front().body);
    }
    for (TensorShape &shape : definition.inputs)
      rename(shape.dims);
  }

  SmallVector<IntExpr> symbolsOf(MLIRContext *context,
                                 ArrayRef<std::string> names) const {
    SmallVector<IntExpr> integers;
    for (llvm::StringRef name : names) {
      unsigned place = 0;
      bool isNumber = !name.drop_front().getAsInteger(10, place);
      assert(isNumber && "all symbols were renamed");
      (void)isNumber;
      integers.push_back(IntExpr::symbol(context, symbols[place]));
    }
    return integers;
  }

private:
  IntExpr rename(IntExpr expr) {
    return expr.substitute([&](StringRef name) {
      auto it = llvm::find(symbols, name);
      unsigned place = it - symbols.begin();
      if (it == symbols.end())
        symbols.push_back(name.str());
      return IntExpr::symbol(expr.getContext(), "n" + std::to_string(place));
    });
  }
  void rename(llvm::MutableArrayRef<IntExpr> dims) {
    for (IntExpr &dim : dims)
      dim = rename(dim);
  }
  void rename(llvm::MutableArrayRef<Loop> loops) {
    for (Loop &loop : loops)
      loop.extent = rename(loop.extent);
  }
  Expr rename(const Expr &expr) {
    // Texts have no reductions without loops.
    if (expr->kind == Expr::Kind::Reduce && expr->loops.empty())
      return rename(expr->operands[0]);
    ExprNode node = *expr;
    if (node.integer)
      node.integer = rename(node.integer);
    rename(llvm::MutableArrayRef<Loop>(node.loops));
    for (Expr &operand : node.operands)
      operand = rename(operand);
    return make(std::move(node));
  }

  std::vector<std::string> symbols;
};

} // namespace

FailureOr<Value> emitCompute(OpBuilder &builder, Location loc,
                             Definition definition, ValueRange inputs) {
  MLIRContext *context = builder.getContext();
  Stage &result = definition.stages.back();
  SmallVector<IntExpr> dims = result.dims;
  Type type = result.elementType;
  Renaming renaming(definition);
  std::vector<std::string> names;
  for (unsigned i = 0; i < inputs.size(); ++i)
    names.push_back("x" + std::to_string(i));
  DefinitionText text = printDefinition(definition, names);
  SmallVector<Attribute> reals;
  for (const std::string &name : text.reals)
    reals.push_back(RealAttr::getSymbolic(context, name));
  FailureOr<ComputeOp> made = createOp<ComputeOp>(
      builder, loc, inputs, text.text, DimsAttr::get(context, ArrayRef(dims)),
      DimsAttr::get(context,
                    ArrayRef(renaming.symbolsOf(context, text.integers))),
      builder.getArrayAttr(reals), type);
  if (failed(made))
    return failure();
  return made->getResult();
}

FailureOr<Value> emitStage(OpBuilder &builder, Location loc,
                           const Definition &definition, const Stage &stage,
                           llvm::function_ref<Value(TensorId)> valueOf) {
  if (!stage.reinterprets) {
    StageAlone alone(definition, stage);
    SmallVector<Value> operands;
    for (TensorId operand : alone.operands)
      operands.push_back(valueOf(operand));
    return emitCompute(builder, loc, std::move(alone.alone), operands);
  }
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
