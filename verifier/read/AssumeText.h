//===- AssumeText.h - Assumptions written on a function ---------*- C++ -*-===//
//
// `mlc.assume` on a function is an array of texts
//
//   a == b   a != b   a < b   a <= b   a > b   a >= b   d divides e
//
// over `IntExpr`s, joined by `or` within one text; `real eps > 0.0` restricts a
// real parameter. On an argument it is an array of element predicates:
// "positive", "non-negative", "non-zero", "finite", "all-equal", "constant".
//
// `mlc.require` on a function is an array of such texts, each a single
// comparison: the conditions on sizes under which the function can run. Like
// the requirements of operators, they must be proved for an after side.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_ASSUMETEXT_H
#define MLC_VERIFIER_READ_ASSUMETEXT_H

#include "verifier/read/Condition.h"
#include "llvm/Support/Error.h"

namespace mlc {

/// The assumptions on `function` and its arguments; errors name the text.
llvm::Expected<Assumptions> readAssumptions(mlir::func::FuncOp function);

/// The comparisons of `mlc.require`; errors name the text.
llvm::Expected<std::vector<Condition>>
readRequirements(mlir::func::FuncOp function);

/// Replaces the assumptions on `function` and its arguments; false if one has
/// no such text: a negation, or a conjunction in a disjunction.
bool writeAssumptions(mlir::func::FuncOp function,
                      const Assumptions &assumptions);

} // namespace mlc

#endif // MLC_VERIFIER_READ_ASSUMETEXT_H
