//===- Guard.h - Conditions on integers -------------------------*- C++ -*-===//
//
// Indices, extents and guards are IntExprs over dims, attributes and variables
// (symbols whose names begin with '%'). All symbols are non-negative.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_GUARD_H
#define MLC_VERIFIER_READ_GUARD_H

#include "dialects/Symbolic/Enums.h"
#include "dialects/Symbolic/IntExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace mlc::verifier {

/// The verifier's own names. Dims and parameters of a goal never begin with
/// '%' (ProgramBuilder and makeGoal reject those).
inline bool isOwnName(llvm::StringRef name) { return name.starts_with("%"); }

/// expr >= 0, expr == 0 or expr != 0.
struct Guard {
  enum class Kind { NonNegative, Zero, NonZero };
  Kind kind = Kind::NonNegative;
  IntExpr expr;

  static Guard nonNegative(IntExpr e) { return {Kind::NonNegative, e}; }
  static Guard zero(IntExpr e) { return {Kind::Zero, e}; }
  static Guard nonZero(IntExpr e) { return {Kind::NonZero, e}; }
  /// a < b.
  static Guard less(IntExpr a, IntExpr b) { return nonNegative(b - a - 1); }

  Guard negated() const;
  bool operator==(const Guard &other) const {
    return kind == other.kind && expr == other.expr;
  }
};

/// `lhs predicate rhs` as a condition on one side of 0.
Guard guardOf(IntExpr lhs, ComparePredicate predicate, IntExpr rhs);

/// coefficient * product of atoms.
struct IndexMonomial {
  int64_t coefficient;
  llvm::SmallVector<IntExpr, 3> atoms;

  IntExpr toExpr(mlir::MLIRContext *context) const;
};
/// The monomial of an expression that is no sum.
IndexMonomial monomialOf(IntExpr expr);
llvm::SmallVector<IndexMonomial, 4> monomialsOf(IntExpr expr);

bool mentions(IntExpr expr, IntExpr symbol);
inline bool mentions(const Guard &guard, IntExpr symbol) {
  return mentions(guard.expr, symbol);
}

/// Symbols to expressions, by name.
using Substitution = std::map<std::string, IntExpr>;
IntExpr substitute(IntExpr expr, const Substitution &substitution);

/// Whether expr >= 0 is evident: its only negative parts come from one guard
/// that holds, or are absorbed by a minimum or maximum.
bool isPlainlyNonNegative(IntExpr expr, llvm::ArrayRef<Guard> guards);
/// Whether expr > 0 is evident, for expr or for each of its factors.
bool isPlainlyPositive(IntExpr expr, llvm::ArrayRef<Guard> guards);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_GUARD_H
