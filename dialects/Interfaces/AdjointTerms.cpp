//===- AdjointTerms.cpp - What cotangents are made of ---------------------===//

#include "dialects/Interfaces/AdjointTerms.h"
#include "dialects/Interfaces/TangentRules.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using mlir::FloatType;
using mlir::isa;

namespace mlc::adjoint {

bool isZero(const Expr &e) {
  return e->kind == Expr::Kind::Constant && e->number == 0.0 &&
         e->integerNumber == 0;
}

static bool isOne(const Expr &e) {
  return e->kind == Expr::Kind::Constant && isa<FloatType>(e->type) &&
         e->number == 1.0;
}

/// What is chosen or 0, with `f` of what is chosen: where 0 is, f may be of an
/// infinity.
static Expr withinChoice(const Expr &a, llvm::function_ref<Expr(Expr)> f) {
  if (a->kind != Expr::Kind::Select)
    return f(a);
  const Expr &yes = a->operands[1], &no = a->operands[2];
  if (!isZero(yes) && !isZero(no))
    return f(a);
  return select(a->operands[0], isZero(yes) ? yes : withinChoice(yes, f),
                isZero(no) ? no : withinChoice(no, f));
}

Expr times(const Expr &a, const Expr &b) {
  if (isZero(a) || isOne(b))
    return a;
  if (isZero(b) || isOne(a))
    return b;
  return withinChoice(
      a, [&](const Expr &chosen) { return isOne(chosen) ? b : chosen * b; });
}

Expr quotient(const Expr &a, const Expr &b) {
  return isZero(a)
             ? a
             : withinChoice(a, [&](const Expr &chosen) { return chosen / b; });
}

Expr plus(const Expr &a, const Expr &b) {
  if (isZero(a))
    return b;
  return isZero(b) ? a : a + b;
}

Expr slopeOfPower(const DefinitionBuilder &builder, const Expr &x,
                  const Expr &y) {
  bool isConstant = y->kind == Expr::Kind::Constant;
  if (isConstant && (y->number == 0 || y->number == 1))
    return y;
  if (isConstant && y->number == 2)
    return y * x;
  Expr slope = y * binary(BinaryFn::Pow, x, tangent::lessOne(builder, y));
  Expr zero = builder.constant(y->type, 0);
  return isConstant
             ? slope
             : select(compare(ComparePredicate::EQ, y, zero), zero, slope);
}

bool isSame(ArrayRef<Loop> a, ArrayRef<Loop> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return std::get<0>(pair).id == std::get<1>(pair).id;
         });
}

bool isSame(const Expr &a, const Expr &b) {
  return a->kind == b->kind && a->loop == b->loop && a->integer == b->integer &&
         a->binary == b->binary && a->kind != Expr::Kind::Read &&
         a->operands.size() == b->operands.size() &&
         llvm::all_of(llvm::zip(a->operands, b->operands), [](auto pair) {
           return isSame(std::get<0>(pair), std::get<1>(pair));
         });
}

bool vanishesWith(const Expr &e, TensorId cotangent) {
  auto isPolynomial = [](const Expr &part) {
    bool result = true;
    walk(part, [&](const ExprNode &node) {
      bool isArithmetic = node.kind != Expr::Kind::Binary ||
                          node.binary <= BinaryFn::Mul ||
                          isa<mlir::IndexType>(node.type);
      result &= isArithmetic && node.kind != Expr::Kind::Reduce &&
                node.kind != Expr::Kind::Unary;
    });
    return result;
  };
  if (e->kind == Expr::Kind::Read)
    return e->tensor == cotangent;
  if (e->kind == Expr::Kind::Select && isZero(e->operands[2]))
    return vanishesWith(e->operands[1], cotangent);
  if (e->kind == Expr::Kind::Select && isZero(e->operands[1]))
    return vanishesWith(e->operands[2], cotangent);
  if (e->kind == Expr::Kind::Cast ||
      (e->kind == Expr::Kind::Unary && e->unary == UnaryFn::Neg))
    return vanishesWith(e->operands[0], cotangent);
  if (e->kind != Expr::Kind::Binary || e->binary != BinaryFn::Mul)
    return false;
  const Expr &a = e->operands[0], &b = e->operands[1];
  return (vanishesWith(a, cotangent) && isPolynomial(b)) ||
         (vanishesWith(b, cotangent) && isPolynomial(a));
}

} // namespace mlc::adjoint
