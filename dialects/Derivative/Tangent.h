//===- Tangent.h - Forward derivatives of definitions -----------*- C++ -*-===//
//
// From the definition of y = f(x) derives that of dy = J(x) t: how the results
// move when the inputs move along t. Every float read gets a read of its
// tangent, at the same indices, over the same loops:
//
//   Y[n,o,h]  = sum_{c,u} X<0>[n, c, 2 h + u - p] W[o,c,u]
//   tY[n,o,h] = sum_{c,u} tX<0>[n, c, 2 h + u - p] W[o,c,u]
//                       + X<0>[n, c, 2 h + u - p] tW[o,c,u]
//
// No index is inverted and no loop is solved for, so that it can be checked by
// reading. It defines what a derivative is here, and is trusted: a gradient g
// is proved by <dy, J t> = <t, g(x, dy)> (verifier/read/GradientGoals.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DERIVATIVE_TANGENT_H
#define MLC_DIALECTS_DERIVATIVE_TANGENT_H

#include "dialects/Definition/Definition.h"

namespace mlc {

/// The inputs to differentiate by, one entry per input.
struct Directions {
  /// The inputs that vary; the others, and all that are not floats, are
  /// constants.
  llvm::SmallVector<bool> varies;
  /// The varying inputs that move; the tangents of the others are 0.
  llvm::SmallVector<bool> moves;
  /// Whether the derivative is 0 where it is infinite: of a root at 0, and of
  /// x^y at 0 for y < 1. If not, it has no value there.
  bool isZeroWhereSteep = true;

  /// Along all float inputs.
  static Directions all(const Definition &definition);
};

/// The forward derivative of `definition`, or why there is none. Its inputs are
/// those of the definition, then a tangent for each that moves. Its stages are
/// those of the definition, then their tangents. Its results are the tangents
/// of the float results, in order.
///
/// Conventions where there is no derivative (the same as in Adjoint.h):
///   max(x, c)    with a constant c: 0 where x = c; likewise min
///   max(x, y)    if both vary: that of x, the first, where x = y
///   max over i   that of the first i, in the order of the loops, with the
///                maximum
///   abs          0 at 0
///   select, x[i] that of the chosen value, whatever the condition or index
///                depends on
///   rounding     0, also where a float becomes an integer
///   sqrt, x^y    0 where the slope is infinite, if `isZeroWhereSteep`
struct TangentDefinition {
  Definition definition;
  /// Why there is none; empty if there is one.
  std::string failure;
};
TangentDefinition differentiateForward(const Definition &definition,
                                       const Directions &directions,
                                       mlir::MLIRContext *context);
/// Along all float inputs.
TangentDefinition differentiateForward(const Definition &definition,
                                       mlir::MLIRContext *context);

/// Why a definition has no derivative; empty if it has one.
std::string whyNotDifferentiable(const Definition &definition,
                                 mlir::MLIRContext *context);

} // namespace mlc

#endif // MLC_DIALECTS_DERIVATIVE_TANGENT_H
