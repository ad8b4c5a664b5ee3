//===- Gradient.h - Is a function another's gradient? -----------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_GRADIENT_H
#define MLC_VERIFIER_SEARCH_GRADIENT_H

#include "verifier/Verifier.h"
#include "verifier/read/GradientGoals.h"

namespace mlc::verifier {

/// The goals; guesses are statements that numbers do not refute.
std::vector<Goal> makeGradientGoals(mlir::func::FuncOp function,
                                    mlir::func::FuncOp gradient,
                                    const Assumptions &assumptions);

} // namespace mlc::verifier

namespace mlc {

/// Whether `gradient` gives the gradients of `function` wherever that is
/// differentiable and `assumptions` hold.
Verdict verifyGradient(mlir::func::FuncOp function, mlir::func::FuncOp gradient,
                       const Assumptions &assumptions,
                       const VerifierOptions &options = {});

/// The extra assumptions behind an answer about gradients.
std::string describeDerivative();

} // namespace mlc

#endif // MLC_VERIFIER_SEARCH_GRADIENT_H
