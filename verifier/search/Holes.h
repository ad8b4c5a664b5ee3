//===- Holes.h - Weights that a rewrite needs, solved -----------*- C++ -*-===//
//
// The after side of a rewrite may take arguments that the before side does not
// have: holes, weights that are still unknown. Over activations both sides are
// polynomials in the normal form (Scalar.h), and the after side is linear in a
// hole, so its elements follow by comparing coefficients:
//
//   for each term t' of the after side that reads hole[h(o, r')]
//     solve h(o, r') = j for (o, r'); what j leaves open are positions F
//     for each term t of the before side that reads the same activations
//       hole[j] += sum over t's variables, where t reads what t' reads, of t's
//                  coefficient and constants, divided by those of t'
//       which must not depend on F
//
// The solution is an index expression over the before side's constants and
// becomes an `mlc.compute` in the hole's place. It is only a guess: the caller
// proves the rewrite with `verify`, and only that is trusted.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_SEARCH_HOLES_H
#define MLC_VERIFIER_SEARCH_HOLES_H

#include "mlir/IR/OwningOpRef.h"
#include "verifier/Verifier.h"

namespace mlc {

struct HoleProblem {
  mlir::func::FuncOp before;
  /// Takes the arguments of `before` and then the holes, whose dims are
  /// expressions over the symbols of both sides.
  mlir::func::FuncOp after;
  /// For each argument of `before`: whether it is known when the rule is
  /// applied, so that weights may be computed from it. The others are
  /// activations.
  std::vector<bool> isConstant;
  /// Names for the arguments in the texts of the weights; missing ones are
  /// made up.
  std::vector<std::string> names;
  Assumptions assumptions;
};

struct HoleSolution {
  /// `after` over the arguments of `before`, each hole an mlc.compute; null
  /// when there is no solution.
  mlir::OwningOpRef<mlir::func::FuncOp> after;
  /// Why there is none: "weight 0 would depend on the output position", ...
  std::string failure;
};

/// Solves all holes of `problem.after`. Leaves the problem as it is.
/// Deterministic. The limits of `options` bound the work.
HoleSolution solveHoles(const HoleProblem &problem,
                        const VerifierOptions &options = {});

} // namespace mlc

#endif // MLC_VERIFIER_SEARCH_HOLES_H
