//===- Guard.cpp - Conditions on integers ---------------------------------===//

#include "verifier/read/Guard.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace mlc::verifier {

Guard Guard::negated() const {
  switch (kind) {
  case Kind::NonNegative:
    return nonNegative(-expr - 1);
  case Kind::Zero:
    return nonZero(expr);
  case Kind::NonZero:
    return zero(expr);
  }
  llvm_unreachable("unknown guard");
}

Guard guardOf(IntExpr lhs, ComparePredicate predicate, IntExpr rhs) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return Guard::zero(lhs - rhs);
  case ComparePredicate::NE:
    return Guard::nonZero(lhs - rhs);
  case ComparePredicate::LT:
    return Guard::less(lhs, rhs);
  case ComparePredicate::LE:
    return Guard::nonNegative(rhs - lhs);
  case ComparePredicate::GT:
    return Guard::less(rhs, lhs);
  case ComparePredicate::GE:
    return Guard::nonNegative(lhs - rhs);
  }
  llvm_unreachable("unknown predicate");
}

IntExpr IndexMonomial::toExpr(mlir::MLIRContext *context) const {
  IntExpr result = IntExpr::constant(context, coefficient);
  for (IntExpr atom : atoms)
    result = result * atom;
  return result;
}

IndexMonomial monomialOf(IntExpr expr) {
  if (expr.isConstant() &&
      expr.getConstant() != std::numeric_limits<int64_t>::min())
    return {expr.getConstant(), {}};
  if (expr.getKind() != IntExpr::Kind::Mul)
    return {1, {expr}};
  // Products that overflow int64 also have constants among their atoms. The
  // least integer has no negation, so it is no coefficient.
  ArrayRef<IntExpr> operands = expr.getOperands();
  std::optional<int64_t> first = operands.front().asConstant();
  if (first == std::numeric_limits<int64_t>::min())
    return {1, {expr}};
  if (first)
    operands = operands.drop_front();
  return {first.value_or(1), SmallVector<IntExpr, 3>(operands)};
}

SmallVector<IndexMonomial, 4> monomialsOf(IntExpr expr) {
  SmallVector<IndexMonomial, 4> result;
  if (expr.getKind() == IntExpr::Kind::Add) {
    for (IntExpr operand : expr.getOperands())
      result.push_back(monomialOf(operand));
  } else if (!expr.isConstant(0)) {
    result.push_back(monomialOf(expr));
  }
  return result;
}

bool mentions(IntExpr expr, IntExpr symbol) {
  if (expr == symbol)
    return true;
  return llvm::any_of(expr.getOperands(),
                      [&](IntExpr e) { return mentions(e, symbol); });
}

IntExpr substitute(IntExpr expr, const Substitution &substitution) {
  if (substitution.empty())
    return expr;
  return expr.substitute([&](StringRef name) {
    auto it = substitution.find(name.str());
    return it == substitution.end() ? IntExpr() : it->second;
  });
}

static bool isPlain(IntExpr expr, ArrayRef<Guard> guards, unsigned &fuel) {
  if (fuel == 0)
    return false;
  --fuel;
  if (expr.isKnownNonNegative())
    return true;
  for (const Guard &guard : guards)
    if (guard.kind != Guard::Kind::NonZero &&
        (expr - guard.expr).isKnownNonNegative())
      return true;
  // A minimum is at most each of its operands, a maximum at least.
  for (const IndexMonomial &m : monomialsOf(expr)) {
    if (m.atoms.size() != 1)
      continue;
    IntExpr atom = m.atoms[0];
    if (atom.getKind() !=
        (m.coefficient < 0 ? IntExpr::Kind::Min : IntExpr::Kind::Max))
      continue;
    IntExpr rest = expr - atom * m.coefficient;
    return llvm::any_of(atom.getOperands(), [&](IntExpr operand) {
      return isPlain(rest + operand * m.coefficient, guards, fuel);
    });
  }
  return false;
}

bool isPlainlyNonNegative(IntExpr expr, ArrayRef<Guard> guards) {
  unsigned fuel = 32;
  return isPlain(expr, guards, fuel);
}

bool isPlainlyPositive(IntExpr expr, ArrayRef<Guard> guards) {
  if (isPlainlyNonNegative(expr - 1, guards))
    return true;
  return expr.getKind() == IntExpr::Kind::Mul &&
         llvm::all_of(expr.getOperands(), [&](IntExpr factor) {
           return isPlainlyPositive(factor, guards);
         });
}

} // namespace mlc::verifier
