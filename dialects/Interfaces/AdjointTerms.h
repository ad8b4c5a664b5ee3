//===- AdjointTerms.h - What cotangents are made of -------------*- C++ -*-===//
//
// For Adjoint.cpp, and for gradients that are known by name.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_ADJOINTTERMS_H
#define MLC_DIALECTS_INTERFACES_ADJOINTTERMS_H

#include "dialects/Interfaces/Definition.h"

namespace mlc::adjoint {

bool isZero(const Expr &e);
/// c slope, c slope / divisor, the sum, without factors 1 and
/// parts 0. Where `c` is a choice between something and 0, so are the first
/// two. They are 0 where `c` is, whatever the slope is there: infinite, or that
/// of what nobody reads and has no value (asGuardedProduct).
Expr times(const Expr &c, const Expr &slope);
Expr quotient(const Expr &c, const Expr &slope, const Expr &divisor);
Expr plus(const Expr &a, const Expr &b);
/// The product alone.
Expr plainTimes(const Expr &c, const Expr &slope);
/// Whether what is `active` and read in `into`, of the definition, gets a sum
/// of products of two elements, as in matrix products and convolutions, whose
/// form kernels know: at a point of `loops` (foreign ones) it is read at an
/// index without some of them.
bool isTermOfSum(const Expr &into, const Expr &slope,
                 llvm::ArrayRef<Loop> loops,
                 llvm::function_ref<bool(TensorId)> active);

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
