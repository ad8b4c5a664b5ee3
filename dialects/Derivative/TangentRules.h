//===- TangentRules.h - Derivatives of functions of two numbers -*- C++ -*-===//
//
// Internal to Tangent.cpp and, as far as it says so, Adjoint.cpp. A null
// expression is 0.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DERIVATIVE_TANGENTRULES_H
#define MLC_DIALECTS_DERIVATIVE_TANGENTRULES_H

#include "dialects/Definition/Definition.h"

namespace mlc::tangent {

/// A value and its tangent.
struct Moving {
  Expr value;
  Expr tangent; // null: 0
  bool varies = false;
};

Expr sum(const Expr &a, const Expr &b);
Expr product(const Expr &a, const Expr &b);
/// y - 1, folded if y is a number.
Expr lessOne(const DefinitionBuilder &b, const Expr &y);
/// The condition under which x counts as constant in x^y: y = 0, or x = 0 for y
/// < 1. Null if it never holds.
Expr isSteep(const DefinitionBuilder &b, const Expr &x, const Expr &y);
/// `choice ? yes : no`.
Expr choose(const DefinitionBuilder &b, const Expr &choice, const Expr &yes,
            const Expr &no);

/// The tangent of fn(x, y); nothing if it has no derivative. `isZeroWhereSteep`
/// as in Tangent.h.
std::optional<Expr> tangentOf(const DefinitionBuilder &b, BinaryFn fn,
                              const Moving &x, const Moving &y,
                              bool isZeroWhereSteep);

/// y = 1 / (1 + exp(argument)), with the slope y (y - 1): the product of the
/// parts' slopes would be infinity times 0 where exp overflows.
struct Logistic {
  Expr argument;

  static Expr slope(const DefinitionBuilder &b, const Expr &value);
};
std::optional<Logistic> asLogistic(const ExprNode &node);

/// Whether place `i` attains an extremum first: values at places before it, in
/// the order of loops, are worse, and values after it are not better. `theirs`
/// and `own` are the values at `j` and `i`.
Expr isFirst(ReduceKind kind, llvm::ArrayRef<Expr> i, llvm::ArrayRef<Expr> j,
             const Expr &own, const Expr &theirs);

/// Whether `i` equals `j` in all indices; neither is empty.
Expr isSamePlace(llvm::ArrayRef<Expr> i, llvm::ArrayRef<Expr> j);

} // namespace mlc::tangent

#endif // MLC_DIALECTS_DERIVATIVE_TANGENTRULES_H
