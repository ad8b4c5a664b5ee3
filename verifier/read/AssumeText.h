//===- AssumeText.h - Assumptions written on a function ---------*- C++ -*-===//
//
// `mlc.assume` on a function is an array of texts
//
//   a == b   a != b   a < b   a <= b   a > b   a >= b   d divides e
//
// over `IntExpr`s, joined by `or` within one text; `real eps > 0.0` speaks of a
// real parameter. On an argument it is an array of element predicates:
// "positive", "non-negative", "non-zero", "finite", "all-equal", "constant".
//
// `mlc.require` on a function is an array of such texts, of one comparison
// each: what must hold of sizes for the function to be carried out. It is shown
// of an after side, as what its operators require is.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_ASSUMETEXT_H
#define MLC_VERIFIER_READ_ASSUMETEXT_H

#include "verifier/read/Condition.h"
#include "llvm/Support/Error.h"

namespace mlc {

/// What is written on `function` and its arguments; errors name the text.
llvm::Expected<Assumptions> readAssumptions(mlir::func::FuncOp function);

/// The comparisons of `mlc.require`; errors name the text.
llvm::Expected<std::vector<Condition>>
readRequirements(mlir::func::FuncOp function);

/// Writes them on `function` and its arguments in place of what is there; false
/// where one has no such text: a negation, or a conjunction in a disjunction.
bool writeAssumptions(mlir::func::FuncOp function,
                      const Assumptions &assumptions);

} // namespace mlc

#endif // MLC_VERIFIER_READ_ASSUMETEXT_H
