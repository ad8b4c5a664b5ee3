//===- AdjointTerms.cpp - Terms of cotangents -----------------------------===//

#include "dialects/Derivative/AdjointTerms.h"
#include "dialects/Definition/GuardedProduct.h"
#include "dialects/Derivative/AdjointIndices.h"
#include "dialects/Derivative/TangentRules.h"
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

/// Applies `f` to the branches of a choice that are not 0. Where the choice is
/// 0, `f` might see an infinity.
static Expr withinChoice(const Expr &a, llvm::function_ref<Expr(Expr)> f) {
  if (a->kind != Expr::Kind::Select)
    return f(a);
  const Expr &yes = a->operands[1], &no = a->operands[2];
  if (!isZero(yes) && !isZero(no))
    return f(a);
  return select(a->operands[0], isZero(yes) ? yes : withinChoice(yes, f),
                isZero(no) ? no : withinChoice(no, f));
}

/// Whether it is a constant or a choice between constants.
static bool isOfNumbers(const Expr &e) {
  if (e->kind == Expr::Kind::Select)
    return isOfNumbers(e->operands[1]) && isOfNumbers(e->operands[2]);
  return e->kind == Expr::Kind::Constant;
}

/// A product with `c` that is 0 where `c` is. Without the test if `c` has a
/// reduction, which would be computed twice.
static Expr unlessZero(const Expr &c, const Expr &product) {
  bool hasReduction = false;
  walk(c, [&](const ExprNode &node) {
    hasReduction |= node.kind == Expr::Kind::Reduce;
  });
  if (hasReduction || c->kind == Expr::Kind::Constant)
    return product;
  ExprNode zero(Expr::Kind::Constant, c->type);
  Expr none(std::make_shared<const ExprNode>(std::move(zero)));
  return select(compare(ComparePredicate::EQ, c, none), none, product);
}

Expr plainTimes(const Expr &c, const Expr &slope) {
  if (isZero(c) || isOne(slope))
    return c;
  if (isZero(slope) || isOne(c))
    return slope;
  return withinChoice(c, [&](const Expr &chosen) {
    return isOne(chosen) ? slope : chosen * slope;
  });
}

Expr times(const Expr &c, const Expr &slope) {
  if (isZero(c) || isOne(c) || isOfNumbers(slope))
    return plainTimes(c, slope);
  return withinChoice(c, [&](const Expr &chosen) {
    return isOne(chosen) ? slope : unlessZero(chosen, chosen * slope);
  });
}

bool isTermOfSum(const Expr &into, const Expr &slope, ArrayRef<Loop> loops,
                 llvm::function_ref<bool(TensorId)> active) {
  if (slope->kind != Expr::Kind::Read)
    return false;
  bool isSum = false;
  walk(into, [&](const ExprNode &node) {
    if (node.kind != Expr::Kind::Read || !active(node.tensor))
      return;
    for (const Loop &loop : loops) {
      bool isIndex = loop.extent.isConstant(1);
      for (const Expr &index : node.indices())
        walk(index, [&](const ExprNode &part) {
          isIndex |= part.kind == Expr::Kind::Loop &&
                     part.loop + firstForeignLoop == loop.id;
        });
      isSum |= !isIndex;
    }
  });
  return isSum;
}

Expr quotient(const Expr &c, const Expr &slope, const Expr &divisor) {
  if (isZero(c))
    return c;
  return withinChoice(c, [&](const Expr &chosen) {
    Expr result = plainTimes(chosen, slope) / divisor;
    bool isFinite = isOfNumbers(slope) && isOfNumbers(divisor);
    return isFinite ? result : unlessZero(chosen, result);
  });
}

Expr plus(const Expr &a, const Expr &b) {
  if (isZero(a))
    return b;
  return isZero(b) ? a : a + b;
}

Expr slopeOfPower(const DefinitionBuilder &builder, const Expr &x,
                  const Expr &y) {
  if (y->kind == Expr::Kind::Constant) {
    if (y->number == 0 || y->number == 1)
      return y;
    if (y->number == 2)
      return y * x;
  }
  Expr slope = y * binary(BinaryFn::Pow, x, tangent::lessOne(builder, y));
  Expr steep = tangent::isSteep(builder, x, y);
  return steep ? tangent::choose(builder, steep, Expr(), slope) : slope;
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
  if (asGuardedProduct(*e) &&
      vanishesWith(e->operands[0]->operands[0], cotangent))
    return true;
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
