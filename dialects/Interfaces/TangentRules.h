//===- TangentRules.h - Derivatives of functions of two numbers -*- C++ -*-===//
//
// Internal to Tangent.cpp and, as far as it says, Adjoint.cpp. A null
// expression is 0.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_TANGENTRULES_H
#define MLC_DIALECTS_INTERFACES_TANGENTRULES_H

#include "dialects/Interfaces/Definition.h"

namespace mlc::tangent {

/// A value and how it moves.
struct Moving {
  Expr value;
  Expr tangent; // null: not at all
  bool varies = false;
};

Expr sum(const Expr &a, const Expr &b);
Expr product(const Expr &a, const Expr &b);
/// y - 1, a number if y is one.
Expr lessOne(const DefinitionBuilder &b, const Expr &y);
/// Where x^y moves by x as if it did not: y = 0, and x = 0 for y < 1. Null for
/// nowhere.
Expr isSteep(const DefinitionBuilder &b, const Expr &x, const Expr &y);
/// `choice ? yes : no`.
Expr choose(const DefinitionBuilder &b, const Expr &choice, const Expr &yes,
            const Expr &no);

/// Of fn(x, y); nothing where it has no derivative. `isZeroWhereSteep` as in
/// Tangent.h.
std::optional<Expr> tangentOf(const DefinitionBuilder &b, BinaryFn fn,
                              const Moving &x, const Moving &y,
                              bool isZeroWhereSteep);

/// y = 1 / (1 + exp(argument)). Its slope is y (y - 1): the product of what is
/// left of the parts would be infinity times 0 where exp overflows.
struct Logistic {
  Expr argument;

  static Expr slope(const DefinitionBuilder &b, const Expr &value);
};
std::optional<Logistic> asLogistic(const ExprNode &node);

/// Whether the place `i` has an extremum first: what is at places before it,
/// in the order of loops, is worse, and what is behind is not better. `theirs`
/// and `own` are the values at `j` and `i`.
Expr isFirst(ReduceKind kind, llvm::ArrayRef<Expr> i, llvm::ArrayRef<Expr> j,
             const Expr &own, const Expr &theirs);

/// Whether all of `i` are those of `j`; both are some.
Expr isSamePlace(llvm::ArrayRef<Expr> i, llvm::ArrayRef<Expr> j);

} // namespace mlc::tangent

#endif // MLC_DIALECTS_INTERFACES_TANGENTRULES_H
