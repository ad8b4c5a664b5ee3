//===- OperatorKinds.cpp - What begins an operator of a graph -------------===//

#include "passes/Shardings/OperatorKinds.h"
#include "passes/Distribute/Plan.h"

using namespace mlir;

namespace mlc::dist {

namespace {

bool reads(const Expr &expr, Expr::Kind kind) {
  if (expr->kind == kind)
    return true;
  return llvm::any_of(expr->operands,
                      [&](const Expr &part) { return reads(part, kind); });
}

/// Whether an element is found by data.
bool looksUp(const Expr &expr) {
  if (expr->kind == Expr::Kind::Read)
    for (const Expr &index : expr->indices())
      if (reads(index, Expr::Kind::Read))
        return true;
  return llvm::any_of(expr->operands, looksUp);
}

} // namespace

bool isHeavy(Operation *op) {
  const std::optional<Definition> definition = meaningOf(op);
  if (!definition)
    return true;
  for (const Stage &stage : definition->stages) {
    if (stage.pieces.size() > 1 && op->getNumOperands() > 1)
      return true;
    for (const Piece &piece : stage.pieces)
      if (reads(piece.body, Expr::Kind::Reduce) || looksUp(piece.body))
        return true;
  }
  return false;
}

bool isProduct(Operation *op) {
  const std::optional<Definition> definition = meaningOf(op);
  return definition && definition->stages.size() == 1 &&
         op->getNumOperands() == 2 &&
         reads(definition->stages[0].pieces[0].body, Expr::Kind::Reduce);
}

} // namespace mlc::dist
