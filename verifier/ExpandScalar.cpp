//===- ExpandScalar.cpp - Operations on elements --------------------------===//
//
// As operations on reals and integers, or, for proofs of equal bits, as ones of
// which nothing is known but their names and types. What divides, or takes a
// root or logarithm, leaves an obligation with the selections around it: what a
// selection does not choose need not be defined.
//
//===----------------------------------------------------------------------===//

#include "verifier/Expand.h"
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
// Equal bits
//===----------------------------------------------------------------------===//

/// The type says how results are rounded.
std::string literalName(StringRef function, const ExprNode &node) {
  std::string text;
  llvm::raw_string_ostream(text) << function << ':' << node.type;
  return text;
}

Sum Expander::expandLiterally(const ExprNode &node, std::vector<Sum> operands,
                              const Scope &scope) {
  StringRef function =
      node.kind == Expr::Kind::Unary ? name(node.unary) : name(node.binary);
  return n.call(Head::uninterpreted(literalName(function, node)),
                std::move(operands), scope.facts);
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static Sum inverse(const Sum &truth) {
  return add(constantSum(Fraction(1)), negated(truth));
}

/// `expr` as it is where the condition holds.
Sum Expander::expandWhere(const Sum &condition, const Expr &expr,
                          const Scope &scope) {
  path.push_back(condition);
  Sum result = expand(expr, scope);
  path.pop_back();
  return result;
}

/// Of two truth values, those that do not decide the result alone: obligations
/// from `first` to `second` are the left one's, those from there the right
/// one's.
void Expander::joinPaths(size_t first, size_t second, const Sum &left,
                         const Sum &right) {
  for (size_t i = first; i < obligations.size(); ++i) {
    bool isLeft = i < second;
    if (isLeft && side == Side::ToShow)
      continue;
    obligations[i].path.push_back(isLeft ? right : left);
  }
}

/// Where the value of one element may decide a result of many, nothing is given
/// of the others.
void Expander::leaveOpen(size_t first) {
  if (side == Side::ToShow)
    return;
  for (size_t i = first; i < obligations.size(); ++i)
    obligations[i].path.push_back(
        atomSum(makeUninterpreted("@open" + llvm::Twine(numOpen++), {}, true)));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// A function of the reals must have a value.
void Expander::requireDefined(const ExprNode &node, const Sum &x,
                              const Scope &scope) {
  const ScalarFunction &f = factsOf(node.unary);
  auto inside = f.where.isOpen ? Obligation::Kind::Positive
                               : Obligation::Kind::NonNegative;
  if (f.excludesZero)
    require(Obligation::Kind::NonZero, x, node.type, scope);
  if (std::isfinite(f.where.low))
    require(inside, add(x, constantSum(exactFraction(-f.where.low))), node.type,
            scope);
  if (std::isfinite(f.where.high))
    require(inside, add(constantSum(exactFraction(f.where.high)), negated(x)),
            node.type, scope);
}

Sum Expander::expandUnary(const ExprNode &node, const Scope &scope) {
  Sum x = expand(node.operands[0], scope);
  if (n.settings.strict && isFloat(node.type))
    return expandLiterally(node, {x}, scope);
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
  requireDefined(node, x, scope);
  Head function = isReal
                      ? Head(node.unary)
                      : Head::uninterpreted(named(name(node.unary), node.type));
  return n.apply(function, {x}, scope.facts, isBool(node.type));
}

/// Whether it is 0 where one of two truth values is.
static bool isConjunction(BinaryFn fn) {
  return fn == BinaryFn::And || fn == BinaryFn::Min || fn == BinaryFn::Mul;
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
  size_t first = obligations.size();
  Sum a = expand(node.operands[0], scope);
  size_t second = obligations.size();
  Sum b = expand(node.operands[1], scope);
  bool real = isFloat(node.type);
  if (n.settings.strict && real)
    return expandLiterally(node, {a, b}, scope);
  if (isBool(node.type)) {
    if (isConjunction(node.binary))
      joinPaths(first, second, a, b);
    else if (node.binary == BinaryFn::Or || node.binary == BinaryFn::Max)
      joinPaths(first, second, inverse(a), inverse(b));
    if (std::optional<Sum> known = boolean(node.binary, a, b))
      return *known;
  }
  auto uninterpreted = [&] {
    return n.call(Head::uninterpreted(named(name(node.binary), node.type)),
                  {a, b}, scope.facts, isBool(node.type));
  };
  switch (node.binary) {
  case BinaryFn::And:
  case BinaryFn::Or:
  case BinaryFn::Xor:
    return uninterpreted();
  case BinaryFn::Add:
    return add(a, b, &n.numCancelled);
  case BinaryFn::Sub:
    return add(a, negated(b), &n.numCancelled);
  case BinaryFn::Mul:
    // x * 0 is 0 for finite x only.
    n.numCancelled += real && a.isZero() != b.isZero();
    return n.multiply(a, b);
  case BinaryFn::Div:
    require(Obligation::Kind::NonZero, b, node.type, scope);
    if (!real)
      return uninterpreted();
    n.numCancelled += a.isZero();
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
    if (real)
      require(Obligation::Kind::Positive, a, node.type, scope);
    return uninterpreted();
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    require(Obligation::Kind::NonZero, b, node.type, scope);
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
  // Integers beyond a width have no difference whose sign is their order.
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
    // NaN makes a < b and not (b <= a) differ, so nothing is rearranged.
    if (n.settings.strict && isFloat(left->type))
      return n.call(Head::uninterpreted(name(predicate)),
                    reversed ? std::vector<Sum>{y, x} : std::vector<Sum>{x, y},
                    scope.facts, /*isBoolean=*/true);
    result = ordered(isEquality, x, y, left->type, scope);
  }
  return negate ? add(constantSum(Fraction(1)), negated(result)) : result;
}

/// Whether a truth value depends on indices alone.
static bool isDecidedByGuards(const Sum &condition) {
  return llvm::all_of(condition.terms,
                      [](const Term &t) { return t.factors.empty(); });
}

Sum Expander::expandSelect(const ExprNode &node, const Scope &scope) {
  Sum condition = expand(node.operands[0], scope);
  if (n.settings.strict && !isDecidedByGuards(condition))
    return n.call(Head::uninterpreted("select"),
                  {condition, expand(node.operands[1], scope),
                   expand(node.operands[2], scope)},
                  scope.facts, isBool(node.type));
  // Only what holds where a side is chosen makes that side defined.
  return n.mapCases(condition, scope.facts, [&](const Sum &c, const Facts &f) {
    Scope inner{scope.loops, f, scope.domain};
    if (std::optional<Fraction> known = asConstant(c))
      return expand(node.operands[*known == Fraction(0) ? 2 : 1], inner);
    Sum yes = expandWhere(c, node.operands[1], inner),
        no = expandWhere(inverse(c), node.operands[2], inner);
    return add(no, n.multiply(c, add(yes, negated(no))));
  });
}

} // namespace mlc::verifier
