//===- AdjointTerms.h - What cotangents are made of -------------*- C++ -*-===//
//
// Internal to Adjoint.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_ADJOINTTERMS_H
#define MLC_DIALECTS_INTERFACES_ADJOINTTERMS_H

#include "dialects/Interfaces/Definition.h"

namespace mlc::adjoint {

bool isZero(const Expr &e);
/// The product, the quotient, the sum, without factors 1 and parts 0. Where `a`
/// is a choice between something and 0, so are the first two.
Expr times(const Expr &a, const Expr &b);
Expr quotient(const Expr &a, const Expr &b);
Expr plus(const Expr &a, const Expr &b);

/// y x^(y - 1), with the arithmetic of constants done.
Expr slopeOfPower(const DefinitionBuilder &builder, const Expr &x,
                  const Expr &y);

bool isSame(llvm::ArrayRef<Loop> a, llvm::ArrayRef<Loop> b);
/// Of index expressions.
bool isSame(const Expr &a, const Expr &b);

/// Whether an expression is 0 where reads out of range are, because it is a
/// product with the cotangent of what is finite.
bool vanishesWith(const Expr &e, TensorId cotangent);

} // namespace mlc::adjoint

#endif // MLC_DIALECTS_INTERFACES_ADJOINTTERMS_H
