//===- Adjoint.h - Reverse derivatives of definitions -----------*- C++ -*-===//
//
// From the definition of y = f(x), that of dx = grad f(x, y, dy): what each
// element of x adds to <dy, y>. Each read of an element at an index gives its
// tensor, at this index, the cotangent of what it is read for times the
// derivative; the index map is solved for the loops, so that the gradient is a
// sum over what is left and not a scatter:
//
//   Y[n,o,h] = sum_{c,u} X<0>[n, c, 2 h + u - p] W[o,c,u]
//   dX[n,c,j] = sum_{o,u} [2 | j + p - u] dY<0>[n, o, (j + p - u) div 2]
//   W[o,c,u]
//
// Nothing here is trusted: passes prove <dy, J t> = <t, grad dy> of what they
// take from it, or tests hold it against differences.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_ADJOINT_H
#define MLC_DIALECTS_INTERFACES_ADJOINT_H

#include "dialects/Interfaces/Definition.h"

namespace mlc {

/// The reverse derivative of `definition`, or why there is none. Its inputs
/// are those of the definition, then its results (they are at hand where the
/// gradient is computed), then the cotangents of those that are of floats; its
/// results are the gradients of the inputs that are `wanted` (of floats), in
/// their order. Every stage has one piece, and every read is evidently in range
/// or says what stands for it.
///
/// Where there is no derivative: max(x, c) gives x nothing where x = c for a c
/// that does not vary, and the first of two that vary everything where they are
/// equal; a maximum or minimum over loops gives everything to the first place,
/// in the order of the loops, that has it. Rounding has the derivative 0, and
/// so have roots and powers at 0 where they are infinitely steep. What has the
/// cotangent 0 gives nothing (asGuardedProduct).
struct AdjointDefinition {
  Definition definition;
  /// Why there is none; empty otherwise.
  std::string failure;
};
AdjointDefinition differentiateReverse(const Definition &definition,
                                       llvm::ArrayRef<bool> wanted,
                                       mlir::MLIRContext *context);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_ADJOINT_H
