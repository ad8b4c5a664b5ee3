//===- TangentRules.cpp - Derivatives of functions of two numbers ---------===//

#include "dialects/Derivative/TangentRules.h"

using llvm::ArrayRef;

namespace mlc::tangent {

Expr sum(const Expr &a, const Expr &b) { return !a ? b : !b ? a : a + b; }

Expr product(const Expr &a, const Expr &b) { return a && b ? a * b : Expr(); }

Expr choose(const DefinitionBuilder &b, const Expr &choice, const Expr &yes,
            const Expr &no) {
  if (!yes && !no)
    return Expr();
  Expr zero = b.constant((yes ? yes : no)->type, 0);
  return select(choice, yes ? yes : zero, no ? no : zero);
}

/// The tangent of the larger (or smaller) operand. On a tie a constant operand
/// wins, else the first.
static Expr tangentOfExtremum(const DefinitionBuilder &b, bool isMax,
                              const Moving &x, const Moving &y) {
  using enum ComparePredicate;
  auto chosen = [&](bool isFirst) {
    return isMax ? (isFirst ? GE : GT) : (isFirst ? LE : LT);
  };
  if (!x.varies) // y is chosen if it is beyond x
    return choose(b, compare(chosen(false), y.value, x.value), y.tangent,
                  Expr());
  return choose(b, compare(chosen(y.varies), x.value, y.value), x.tangent,
                y.tangent);
}

Expr lessOne(const DefinitionBuilder &b, const Expr &y) {
  if (y->kind == Expr::Kind::Constant)
    return b.constant(y->type, y->number - 1);
  return y - b.constant(y->type, 1);
}

Expr isSteep(const DefinitionBuilder &b, const Expr &x, const Expr &y) {
  Expr zero = b.constant(x->type, 0), one = b.constant(x->type, 1);
  Expr isAtZero = compare(ComparePredicate::EQ, x, zero);
  if (y->kind == Expr::Kind::Constant)
    return y->number < 1 ? isAtZero : Expr();
  return binary(
      BinaryFn::Or, compare(ComparePredicate::EQ, y, zero),
      binary(BinaryFn::And, isAtZero, compare(ComparePredicate::LT, y, one)));
}

/// x^y: y x^(y-1) dx + x^y log(x) dy; the former if it is not steep, the latter
/// for x > 0.
static Expr tangentOfPower(const DefinitionBuilder &b, const Moving &x,
                           const Moving &y, bool isZeroWhereSteep) {
  Expr power = binary(BinaryFn::Pow, x.value, y.value);
  Expr zero = b.constant(x.value->type, 0);
  Expr byBase, byExponent;
  bool isNumber = y.value->kind == Expr::Kind::Constant;
  if (x.tangent && !(isNumber && y.value->number == 0))
    byBase = y.value * binary(BinaryFn::Pow, x.value, lessOne(b, y.value)) *
             x.tangent;
  Expr left;
  if (isZeroWhereSteep)
    left = isSteep(b, x.value, y.value);
  else if (!isNumber)
    left = compare(ComparePredicate::EQ, y.value, zero);
  if (byBase && left)
    byBase = choose(b, left, Expr(), byBase);
  if (y.tangent)
    byExponent =
        choose(b, compare(ComparePredicate::GT, x.value, zero),
               power * unary(UnaryFn::Log, x.value) * y.tangent, Expr());
  return sum(byBase, byExponent);
}

std::optional<Expr> tangentOf(const DefinitionBuilder &b, BinaryFn fn,
                              const Moving &x, const Moving &y,
                              bool isZeroWhereSteep) {
  switch (fn) {
  case BinaryFn::Add:
    return sum(x.tangent, y.tangent);
  case BinaryFn::Sub:
    return sum(x.tangent, y.tangent ? -y.tangent : Expr());
  case BinaryFn::Mul:
    return sum(product(x.tangent, y.value), product(x.value, y.tangent));
  case BinaryFn::Div: {
    Expr move = product(x.value / y.value, y.tangent);
    return sum(x.tangent ? x.tangent / y.value : Expr(),
               move ? -move / y.value : Expr());
  }
  case BinaryFn::Pow:
    return tangentOfPower(b, x, y, isZeroWhereSteep);
  case BinaryFn::Max:
  case BinaryFn::Min:
    return tangentOfExtremum(b, fn == BinaryFn::Max, x, y);
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return std::nullopt;
  }
  llvm_unreachable("unknown function");
}

std::optional<Logistic> asLogistic(const ExprNode &node) {
  if (node.kind != Expr::Kind::Unary || node.unary != UnaryFn::Reciprocal)
    return std::nullopt;
  const ExprNode &sum = *node.operands[0];
  bool isSum = sum.kind == Expr::Kind::Binary && sum.binary == BinaryFn::Add &&
               sum.operands[0]->kind == Expr::Kind::Constant &&
               sum.operands[0]->number == 1.0 &&
               sum.operands[1]->kind == Expr::Kind::Unary &&
               sum.operands[1]->unary == UnaryFn::Exp;
  if (!isSum)
    return std::nullopt;
  return Logistic{sum.operands[1]->operands[0]};
}

Expr Logistic::slope(const DefinitionBuilder &b, const Expr &value) {
  return -(value * (b.constant(value->type, 1) - value));
}

/// Whether `i` comes before `j` in the order of loops.
static Expr isBefore(ArrayRef<Expr> i, ArrayRef<Expr> j) {
  Expr before = compare(ComparePredicate::LT, i.back(), j.back());
  for (unsigned d = i.size() - 1; d-- > 0;)
    before = binary(BinaryFn::Or, compare(ComparePredicate::LT, i[d], j[d]),
                    binary(BinaryFn::And,
                           compare(ComparePredicate::EQ, i[d], j[d]), before));
  return before;
}

Expr isFirst(ReduceKind kind, ArrayRef<Expr> i, ArrayRef<Expr> j,
             const Expr &own, const Expr &theirs) {
  bool isMax = kind == ReduceKind::Max;
  Expr isWorse =
      compare(isMax ? ComparePredicate::LT : ComparePredicate::GT, theirs, own);
  Expr isNotBetter =
      compare(isMax ? ComparePredicate::LE : ComparePredicate::GE, theirs, own);
  return i.empty() ? isNotBetter : select(isBefore(j, i), isWorse, isNotBetter);
}

Expr isSamePlace(ArrayRef<Expr> i, ArrayRef<Expr> j) {
  Expr same;
  for (auto [a, b] : llvm::zip(i, j)) {
    Expr one = compare(ComparePredicate::EQ, a, b);
    same = same ? binary(BinaryFn::And, same, one) : one;
  }
  return same;
}

} // namespace mlc::tangent
