//===- Tangent.h - Forward derivatives of definitions -----------*- C++ -*-===//
//
// From the definition of y = f(x), that of dy = J(x) t: how the results move
// when the inputs move along t. Every read of floats stands beside a read of
// its tangent, at the same indices, over the same loops:
//
//   Y[n,o,h]  = sum_{c,u} X<0>[n, c, 2 h + u - p] W[o,c,u]
//   tY[n,o,h] = sum_{c,u} tX<0>[n, c, 2 h + u - p] W[o,c,u]
//                       + X<0>[n, c, 2 h + u - p] tW[o,c,u]
//
// No index is turned round and no loop is solved for, so that it can be checked
// by reading. It says what a derivative is here, and is trusted: a gradient g
// is proved by <dy, J t> = <t, g(x, dy)> (verifier/read/GradientQuestions.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_TANGENT_H
#define MLC_DIALECTS_INTERFACES_TANGENT_H

#include "dialects/Interfaces/Definition.h"

namespace mlc {

/// What a definition is differentiated by, one entry for each input.
struct Directions {
  /// The inputs that vary; the others, and all that are not of floats, are
  /// constants.
  llvm::SmallVector<bool> varies;
  /// Those of them that move: the tangents of the others are 0.
  llvm::SmallVector<bool> moves;
  /// Whether the derivative is 0 where it is infinite: of a root at 0, and of
  /// x^y at 0 for y < 1. Otherwise it has no value there.
  bool isZeroWhereSteep = true;

  /// Along all inputs of floats.
  static Directions all(const Definition &definition);
};

/// The forward derivative of `definition`, or why there is none. Its inputs are
/// those of the definition, then a tangent for each that moves; its first
/// stages are those of the definition, then come their tangents; its results
/// are the tangents of the results of floats, in their order.
///
/// Where there is no derivative, it is this one (the same as in Adjoint.h):
///   max(x, c)    of a c that does not vary: 0 where x = c; so is min
///   max(x, y)    of two that vary: that of x, the first, where x = y
///   max over i   that of the first i, in the order of the loops, that has it
///   abs          0 at 0
///   select, x[i] that of what is chosen, wherever the condition or index
///                comes from
///   rounding     0, also where a float becomes an integer
///   sqrt, x^y    0 where the slope is infinite, if `isZeroWhereSteep`
struct TangentDefinition {
  Definition definition;
  /// Why there is none; empty otherwise.
  std::string failure;
};
TangentDefinition differentiateForward(const Definition &definition,
                                       const Directions &directions,
                                       mlir::MLIRContext *context);
/// Along all inputs of floats.
TangentDefinition differentiateForward(const Definition &definition,
                                       mlir::MLIRContext *context);

/// Why a definition has no derivative; empty where it has one.
std::string whyNotDifferentiable(const Definition &definition,
                                 mlir::MLIRContext *context);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_TANGENT_H
