//===- AdjointTerms.h - Terms of cotangents ---------------------*- C++ -*-===//
//
// For Adjoint.cpp, and for hand-written gradients.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DERIVATIVE_ADJOINTTERMS_H
#define MLC_DIALECTS_DERIVATIVE_ADJOINTTERMS_H

#include "dialects/Definition/Definition.h"

namespace mlc::adjoint {

bool isZero(const Expr &e);
/// c * slope, c * slope / divisor and the sum, without factors 1 and terms 0.
/// If `c` is a choice between a value and 0, so are the first two. They are 0
/// where `c` is 0, even if the slope is infinite there or undefined because
/// nobody reads it (asGuardedProduct).
Expr times(const Expr &c, const Expr &slope);
Expr quotient(const Expr &c, const Expr &slope, const Expr &divisor);
Expr plus(const Expr &a, const Expr &b);
/// The plain product.
Expr plainTimes(const Expr &c, const Expr &slope);
/// Whether the gradient of an `active` tensor that `into` reads becomes a sum
/// of products of two elements, as in matrix products and convolutions, a form
/// that kernels know. That is so if its index does not use some of the foreign
/// `loops`.
bool isTermOfSum(const Expr &into, const Expr &slope,
                 llvm::ArrayRef<Loop> loops,
                 llvm::function_ref<bool(TensorId)> active);

/// y x^(y - 1), with constants folded.
Expr slopeOfPower(const DefinitionBuilder &builder, const Expr &x,
                  const Expr &y);

bool isSame(llvm::ArrayRef<Loop> a, llvm::ArrayRef<Loop> b);
/// For index expressions.
bool isSame(const Expr &a, const Expr &b);

/// Whether an expression is 0 where reads out of range are 0, because it is a
/// product of the cotangent with finite values.
bool vanishesWith(const Expr &e, TensorId cotangent);

} // namespace mlc::adjoint

#endif // MLC_DIALECTS_DERIVATIVE_ADJOINTTERMS_H
