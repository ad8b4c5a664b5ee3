//===- GuardedProduct.cpp - Products that are 0 with a factor -------------===//

#include "dialects/Definition/GuardedProduct.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using mlir::FloatType;
using mlir::isa;

namespace mlc {

/// Whether both are equal, node by node, with the same loops.
static bool isSameExpr(const Expr &a, const Expr &b) {
  if (a == b)
    return true;
  auto isSameLoop = [](const Loop &x, const Loop &y) {
    return x.id == y.id && x.extent == y.extent;
  };
  // Compares bits: 0 and -0 differ, and NaN equals itself.
  auto bits = [](double number) { return llvm::bit_cast<uint64_t>(number); };
  return a->kind == b->kind && a->type == b->type && a->loop == b->loop &&
         a->integer == b->integer && bits(a->number) == bits(b->number) &&
         a->integerNumber == b->integerNumber && a->parameter == b->parameter &&
         a->tensor == b->tensor && a->guarded == b->guarded &&
         a->unary == b->unary && a->binary == b->binary &&
         a->predicate == b->predicate && a->reduce == b->reduce &&
         llvm::equal(a->loops, b->loops, isSameLoop) &&
         llvm::equal(a->operands, b->operands, isSameExpr);
}

static bool isFloatZero(const Expr &e) {
  return e->kind == Expr::Kind::Constant && isa<FloatType>(e->type) &&
         e->number == 0.0;
}

/// Whether `e` is 0 or a product with `x` in every branch.
static bool hasFactor(const Expr &e, const Expr &x) {
  auto operand = [&](unsigned i) { return hasFactor(e->operands[i], x); };
  switch (e->kind) {
  case Expr::Kind::Constant:
    return isFloatZero(e);
  case Expr::Kind::Unary:
    if (e->unary == UnaryFn::Neg && operand(0))
      return true;
    break;
  case Expr::Kind::Binary:
    if ((e->binary == BinaryFn::Mul && (operand(0) || operand(1))) ||
        (e->binary == BinaryFn::Div && operand(0)))
      return true;
    break;
  case Expr::Kind::Select:
    if (operand(1) && operand(2))
      return true;
    break;
  default:
    break;
  }
  return isSameExpr(e, x);
}

Expr asGuardedProduct(const ExprNode &node) {
  if (node.kind != Expr::Kind::Select || !isa<FloatType>(node.type) ||
      !isFloatZero(node.operands[1]))
    return Expr();
  const ExprNode &condition = *node.operands[0];
  bool isAtZero = condition.kind == Expr::Kind::Compare &&
                  condition.predicate == ComparePredicate::EQ &&
                  isFloatZero(condition.operands[1]) &&
                  hasFactor(node.operands[2], condition.operands[0]);
  return isAtZero ? node.operands[2] : Expr();
}

} // namespace mlc
