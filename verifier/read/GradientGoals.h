//===- GradientGoals.h - Goals about gradients ------------------*- C++ -*-===//
//
// A gradient g of f takes the arguments of f, then a cotangent dy for each
// result of floats, and gives a gradient for each argument of floats. It is one
// if, for all sizes, arguments x, cotangents dy and tangents t,
//
//   <dy, J(x) t> = <t, g(x, dy)>
//
// where J(x) t is the forward derivative (dialects/Derivative/Tangent.h), which
// defines derivatives, including at ties. Since J is linear, it suffices to
// prove this for the tangents of one argument at a time. These numbers are the
// results of the two sides, whose equality is proved as for any functions.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_GRADIENTGOALS_H
#define MLC_VERIFIER_READ_GRADIENTGOALS_H

#include "verifier/read/Goal.h"

namespace mlc::verifier {

/// Why `gradient` does not have the type of a gradient of `function`; empty if
/// it does.
std::string whyNotOfGradient(mlir::func::FuncOp function,
                             mlir::func::FuncOp gradient);

/// Guesses whether a goal is true. It is not trusted; it only
/// selects statements worth stating.
using MayBeTrue = llvm::function_ref<bool(const Goal &)>;

/// If any of these goals is proved, `gradient` gives the gradients of
/// `function`; a counterexample to the last one refutes that. Requires the
/// types of a gradient. Arguments are those of `function`, the cotangents, and
/// the tangents.
///
/// The last has the before side <dy, J t> and the after side <t, g>, a number
/// for each argument of floats; J has no value where a slope is infinite (the
/// root at 0). The one before has J = 0 there, as in gradients that mlc makes.
/// Either may be preceded by a goal about other functions that also states
/// their equality to these: softmax subtracts a maximum that cancels, as does
/// its derivative. Its cases are those of all three statements.
std::vector<Goal> makeGradientGoals(mlir::func::FuncOp function,
                                    mlir::func::FuncOp gradient,
                                    const Assumptions &assumptions,
                                    MayBeTrue mayBeTrue);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_GRADIENTGOALS_H
