//===- DefinitionForms.cpp - Definitions with explicit rounding -----------===//

#include "dialects/Definition/DefinitionForms.h"
#include "dialects/Definition/ExprMap.h"

using namespace mlir;

namespace mlc {

namespace {

Expr make(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

bool isSmall(Type type) { return type.isF16() || type.isBF16(); }

/// Rewrites the stages of one definition, in order.
class Widening {
public:
  explicit Widening(Definition &definition) : definition(definition) {}

  void run() {
    for (auto [i, stage] : llvm::enumerate(definition.stages)) {
      if (!computes(stage))
        continue;
      stage.reinterprets.reset();
      bool isResult =
          stage.endsOperator || llvm::is_contained(definition.results, i);
      if (!isResult && isSmall(stage.elementType))
        stage.elementType = wide(stage.elementType);
      for (Piece &piece : stage.pieces)
        piece.body = root(piece.body, stage.elementType);
    }
  }

private:
  static Type wide(Type type) {
    return isSmall(type) ? Float32Type::get(type.getContext()) : type;
  }

  /// Whether the stage does more with small floats than move them, or reads a
  /// stage that is not small any more.
  bool computes(const Stage &stage) {
    ExprSet seen;
    return llvm::any_of(stage.pieces, [&](const Piece &piece) {
      return computes(piece.body, seen);
    });
  }

  bool computes(const Expr &expr, ExprSet &seen) {
    if (!seen.insert(expr).second)
      return false;
    const ExprNode &node = *expr;
    if (node.kind == Expr::Kind::Read && isSmall(node.type) &&
        node.tensor.isStage &&
        definition.stages[node.tensor.index].elementType != node.type)
      return true;
    bool isMove = node.kind == Expr::Kind::Read ||
                  node.kind == Expr::Kind::Constant ||
                  node.kind == Expr::Kind::Select;
    if (!isMove && (isSmall(node.type) ||
                    llvm::any_of(node.operands, [](const Expr &operand) {
                      return isSmall(operand->type);
                    })))
      return true;
    return llvm::any_of(node.operands, [&](const Expr &operand) {
      return computes(operand, seen);
    });
  }

  /// A body that is stored as `type`: rounded once.
  Expr root(const Expr &body, Type type) {
    // A conversion rounds its operand directly.
    if (body->kind == Expr::Kind::Cast && body->type == type)
      return cast(widen(body->operands[0]), type);
    return cast(widen(body), type);
  }

  Expr widen(const Expr &expr) {
    Expr &known = widened[expr];
    if (known)
      return known;
    Expr result = build(expr);
    return widened[expr] = result;
  }

  Expr build(const Expr &expr) {
    ExprNode node = *expr;
    if (node.kind == Expr::Kind::Read)
      return read(std::move(node));
    for (Expr &operand : node.operands)
      operand = widen(operand);
    if (node.kind == Expr::Kind::Cast)
      return cast(node.operands[0], wide(node.type));
    node.type = wide(node.type);
    return make(std::move(node));
  }

  /// The out-of-range value has the tensor's type, because it pads the tensor.
  Expr read(ExprNode node) {
    Type stored = definition.shapeOf(node.tensor).elementType;
    for (auto [i, operand] : llvm::enumerate(node.operands)) {
      bool isOtherwise = node.guarded && i + 1 == node.operands.size();
      if (!isOtherwise || stored != node.type)
        operand = widen(operand);
      else if (operand->kind != Expr::Kind::Constant)
        operand = root(operand, stored);
    }
    node.type = stored;
    Type type = wide(stored);
    return cast(make(std::move(node)), type);
  }

  Definition &definition;
  ExprMap<Expr> widened;
};

} // namespace

Definition widenSmallFloats(Definition definition) {
  auto small = [](Type type) { return isSmall(type); };
  bool any = llvm::any_of(definition.inputs, [&](const TensorShape &input) {
    return small(input.elementType);
  });
  for (const Stage &stage : definition.stages)
    any |= small(stage.elementType);
  if (any)
    Widening(definition).run();
  return definition;
}

BinaryFn functionOf(IntExpr::Kind kind) {
  switch (kind) {
  case IntExpr::Kind::Add:
    return BinaryFn::Add;
  case IntExpr::Kind::Mul:
    return BinaryFn::Mul;
  case IntExpr::Kind::FloorDiv:
    return BinaryFn::FloorDiv;
  case IntExpr::Kind::Mod:
    return BinaryFn::Mod;
  case IntExpr::Kind::Min:
    return BinaryFn::Min;
  case IntExpr::Kind::Max:
    return BinaryFn::Max;
  case IntExpr::Kind::Constant:
  case IntExpr::Kind::Symbol:
    break;
  }
  llvm_unreachable("a leaf");
}

} // namespace mlc
