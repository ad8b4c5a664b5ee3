//===- Adjoint.h - Reverse derivatives of definitions -----------*- C++ -*-===//
//
// From the definition of y = f(x) derives that of dx = grad f(x, y, dy), the
// contribution of each element of x to <dy, y>. Each read adds to its tensor,
// at the index read, the cotangent of its reader times the derivative. The
// index map is solved for the loops, so that the gradient is a sum over the
// remaining loops and not a scatter:
//
//   Y[n,o,h] = sum_{c,u} X<0>[n, c, 2 h + u - p] W[o,c,u]
//   dX[n,c,j] = sum_{o,u} [2 | j + p - u] dY<0>[n, o, (j + p - u) div 2]
//   W[o,c,u]
//
// Nothing here is trusted: passes prove <dy, J t> = <t, grad dy> for the
// derivatives that they use, or tests compare them with differences.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DERIVATIVE_ADJOINT_H
#define MLC_DIALECTS_DERIVATIVE_ADJOINT_H

#include "dialects/Definition/Definition.h"

namespace mlc {

/// The reverse derivative of `definition`, or why there is none. Its inputs are
/// those of the definition, then its results (which are available when the
/// gradient is computed), then the cotangents of its float results. Its results
/// are the gradients of the `wanted` float inputs, in order. Every stage has
/// one piece, and every read is evidently in range or guarded.
///
/// Conventions where there is no derivative: max(x, c) with a constant c gives
/// x nothing at x = c. If two varying operands are equal, the first gets
/// everything. A maximum or minimum over loops gives everything to the first
/// place that attains it, in the order of the loops. Rounding has the
/// derivative 0, and so have roots and powers at 0 where they are infinitely
/// steep. A cotangent of 0 contributes nothing (asGuardedProduct).
struct AdjointDefinition {
  Definition definition;
  /// Why there is none; empty if there is one.
  std::string failure;
};
AdjointDefinition differentiateReverse(const Definition &definition,
                                       llvm::ArrayRef<bool> wanted,
                                       mlir::MLIRContext *context);

} // namespace mlc

#endif // MLC_DIALECTS_DERIVATIVE_ADJOINT_H
