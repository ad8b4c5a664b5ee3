//===- GradientQuestions.h - That a function is a gradient ------*- C++ -*-===//
//
// A gradient g of f takes the arguments of f, then a cotangent dy for each
// result of floats, and gives a gradient for each argument of floats. It is one
// if, for all sizes, arguments x, cotangents dy and tangents t,
//
//   <dy, J(x) t> = <t, g(x, dy)>
//
// where J(x) t is the forward derivative (dialects/Interfaces/Tangent.h), which
// says what a derivative is, at ties too. As J is linear, that holds if it does
// for the tangents of one argument at a time: those are the results of the two
// sides, numbers that are proved equal as any functions are.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_GRADIENTQUESTIONS_H
#define MLC_VERIFIER_READ_GRADIENTQUESTIONS_H

#include "verifier/read/Question.h"

namespace mlc::verifier {

/// Why `gradient` has not the type of a gradient of `function`; empty if it
/// has.
std::string whyNotOfGradient(mlir::func::FuncOp function,
                             mlir::func::FuncOp gradient);

/// Guesses whether a question has the answer yes. Nothing is believed of it: it
/// says which statements are worth stating.
using MayBeTrue = llvm::function_ref<bool(const Question &)>;

/// Questions any of which, where it is proved, shows that `gradient` gives the
/// gradients of `function`; numbers that refute the last one refute it. The
/// types are those of a gradient. Arguments are those of `function`, the
/// cotangents, and the tangents.
///
/// The last has the before side <dy, J t> and the after side <t, g>, a number
/// for each argument of floats, and J has no value where a slope is infinite
/// (the root at 0). One before it has J = 0 there, which is what gradients that
/// mlc makes give. Before each of both there may be one that is about other
/// functions and states beside it that they are equal to these: softmax
/// subtracts a maximum that cancels, and its derivative with it. Its cases are
/// those of all three statements.
std::vector<Question> makeGradientQuestions(mlir::func::FuncOp function,
                                            mlir::func::FuncOp gradient,
                                            const Assumptions &assumptions,
                                            MayBeTrue mayBeTrue);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_GRADIENTQUESTIONS_H
