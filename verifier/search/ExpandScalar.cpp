//===- ExpandScalar.cpp - Operations on elements --------------------------===//
//
// Scalar expressions as operations on reals and integers.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/GuardedProduct.h"
#include "verifier/search/Expand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::StringRef;

namespace mlc::verifier {

static bool isFloat(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type);
}
static bool isBool(mlir::Type type) { return type.isInteger(1); }
static bool isIndex(mlir::Type type) {
  return mlir::isa<mlir::IndexType>(type);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Sum Expander::expandUnary(const ExprNode &node, const Scope &scope) {
  Sum x = expand(node.operands[0], scope);
  // The integers are among the reals, residues are not.
  bool isReal =
      isFloat(node.type) || (isIndex(node.type) && node.unary == UnaryFn::Abs);
  switch (node.unary) {
  case UnaryFn::Not:
    // ~x = -x - 1 modulo 2^w.
    return add(constantSum(Fraction(isBool(node.type) ? 1 : -1)), negated(x));
  case UnaryFn::Neg:
    if (isBool(node.type))
      return x;
    return negated(x);
  case UnaryFn::Abs:
    if (isBool(node.type))
      return x;
    break;
  default:
    break;
  }
  Head function = isReal
                      ? Head(node.unary)
                      : Head::uninterpreted(named(name(node.unary), node.type));
  return n.apply(function, {x}, scope.facts, isBool(node.type));
}

/// Operations on truth values: arithmetic is modulo 2.
std::optional<Sum> Expander::boolean(BinaryFn fn, const Sum &a, const Sum &b) {
  switch (fn) {
  case BinaryFn::And:
  case BinaryFn::Mul:
  case BinaryFn::Min:
    return n.multiply(a, b);
  case BinaryFn::Or:
  case BinaryFn::Max:
    return add(add(a, b), negated(n.multiply(a, b)));
  case BinaryFn::Xor:
  case BinaryFn::Add:
  case BinaryFn::Sub:
    return add(add(a, b), scaled(n.multiply(a, b), Fraction(-2)));
  default:
    return std::nullopt;
  }
}

Sum Expander::expandBinary(const ExprNode &node, const Scope &scope) {
  Sum a = expand(node.operands[0], scope);
  Sum b = expand(node.operands[1], scope);
  bool real = isFloat(node.type);
  if (isBool(node.type))
    if (std::optional<Sum> known = boolean(node.binary, a, b))
      return *known;
  auto uninterpreted = [&] {
    return n.call(Head::uninterpreted(named(name(node.binary), node.type)),
                  {a, b}, scope.facts, isBool(node.type));
  };
  switch (node.binary) {
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
  case BinaryFn::Threefry:
    return uninterpreted();
  case BinaryFn::Add:
    return add(a, b);
  case BinaryFn::Sub:
    return add(a, negated(b));
  case BinaryFn::Mul:
    return n.multiply(a, b);
  case BinaryFn::Div:
    if (!real)
      return uninterpreted();
    return n.multiply(a, n.reciprocal(b, scope.facts));
  case BinaryFn::Min:
  case BinaryFn::Max: {
    bool isMin = node.binary == BinaryFn::Min;
    if (!real || !isMin)
      return n.reduce({isMin ? Head::Kind::Min : Head::Kind::Max, node.type},
                      {{{}, a}, {{}, b}}, scope.facts);
    return negated(n.reduce(Head::Kind::Max,
                            {{{}, negated(a)}, {{}, negated(b)}}, scope.facts));
  }
  case BinaryFn::Pow:
    if (std::optional<Fraction> exponent = asConstant(b);
        exponent && exponent->den == 1 && *exponent >= Fraction(0) &&
        *exponent <= Fraction(4))
      return n.power(a, static_cast<int>(static_cast<int64_t>(exponent->num)));
    return uninterpreted();
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    return uninterpreted();
  }
  llvm_unreachable("unknown function");
}

/// a < b, or a = b.
Sum Expander::ordered(bool isEquality, const Sum &a, const Sum &b,
                      mlir::Type type, const Scope &scope) {
  if (isBool(type)) {
    Sum both = n.multiply(a, b);
    if (!isEquality)
      return add(b, negated(both));
    Sum differs = add(add(a, b), scaled(both, Fraction(-2)));
    return add(constantSum(Fraction(1)), negated(differs));
  }
  // Integers modulo 2^w have no difference whose sign is their order.
  bool isModular = mlir::isa<mlir::IntegerType>(type);
  if (isModular && !isEquality)
    return n.apply({Head::Kind::Less, type}, {a, b}, scope.facts,
                   /*isBoolean=*/true);
  Head function(isEquality ? Head::Kind::Zero : Head::Kind::Positive,
                isModular ? type : mlir::Type());
  return n.apply(function, {add(b, negated(a))}, scope.facts,
                 /*isBoolean=*/true);
}

Sum Expander::expandCompare(const ExprNode &node, const Scope &scope) {
  ComparePredicate predicate = node.predicate;
  bool swap =
      predicate == ComparePredicate::GT || predicate == ComparePredicate::GE;
  const Expr &left = node.operands[swap], &right = node.operands[!swap];
  bool negate = predicate == ComparePredicate::NE ||
                predicate == ComparePredicate::LE ||
                predicate == ComparePredicate::GE;
  bool isEquality =
      predicate == ComparePredicate::EQ || predicate == ComparePredicate::NE;
  // a <= b is not (b < a).
  bool reversed = !isEquality && negate;
  const Expr &low = reversed ? right : left, &high = reversed ? left : right;
  Sum result;
  std::optional<IntExpr> a, b;
  if (isIndex(left->type)) {
    a = toIndex(low, scope);
    b = toIndex(high, scope);
  }
  if (a && b) {
    Guard guard = isEquality ? Guard::zero(*b - *a) : Guard::less(*a, *b);
    result = indicator({scope.facts.simplify(guard)});
    result = n.simplify(result, scope.facts);
  } else {
    Sum x = expand(low, scope), y = expand(high, scope);
    result = ordered(isEquality, x, y, left->type, scope);
  }
  return negate ? add(constantSum(Fraction(1)), negated(result)) : result;
}

Sum Expander::expandSelect(const ExprNode &node, const Scope &scope) {
  if (Expr product = asGuardedProduct(node))
    return expand(product, scope);
  Sum condition = expand(node.operands[0], scope);
  return n.mapCases(condition, scope.facts, [&](const Sum &c, const Facts &f) {
    Scope inner{scope.loops, f};
    if (std::optional<Fraction> known = asConstant(c))
      return expand(node.operands[*known == Fraction(0) ? 2 : 1], inner);
    Sum yes = expand(node.operands[1], inner),
        no = expand(node.operands[2], inner);
    return add(no, n.multiply(c, add(yes, negated(no))));
  });
}

} // namespace mlc::verifier
