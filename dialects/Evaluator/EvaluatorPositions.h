//===- EvaluatorPositions.h - Which element a place falls on ----*- C++ -*-===//
//
// Private to the evaluator.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORPOSITIONS_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORPOSITIONS_H

#include "dialects/Definition/ExprMap.h"

namespace mlc::evaluator {

/// Floats of a body that are computed from positions alone, and then become
/// integers. The element that a position selects is part of an operator's
/// meaning (Resize), not a rounding error.
class Positions {
public:
  explicit Positions(const Expr &body) { visit(body); }
  bool contains(const Expr &expr) const { return found.contains(expr); }

private:
  void visit(const Expr &expr) {
    if (!visited.insert(expr).second)
      return;
    if (expr->kind == Expr::Kind::Cast &&
        !mlir::isa<mlir::FloatType>(expr->type) &&
        mlir::isa<mlir::FloatType>(expr->operands[0]->type) &&
        !readsTensor(expr->operands[0]))
      add(expr->operands[0]);
    for (const Expr &operand : expr->operands)
      visit(operand);
  }

  void add(const Expr &expr) {
    if (mlir::isa<mlir::FloatType>(expr->type) && found.insert(expr).second)
      for (const Expr &operand : expr->operands)
        add(operand);
  }

  bool readsTensor(const Expr &expr) {
    if (auto it = reads.find(expr); it != reads.end())
      return it->second;
    bool answer = expr->kind == Expr::Kind::Read ||
                  llvm::any_of(expr->operands, [&](const Expr &operand) {
                    return readsTensor(operand);
                  });
    return reads[expr] = answer;
  }

  ExprSet visited, found;
  ExprMap<bool> reads;
};

} // namespace mlc::evaluator

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORPOSITIONS_H
