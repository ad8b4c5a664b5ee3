//===- EvaluatorSymbolic.h - Definitions on symbolic numbers ----*- C++ -*-===//
//
// Evaluates an operator on elements that are exact numbers over symbols: sizes,
// and results of shape arithmetic. Like the evaluator it reads the Definition,
// so there is no list of operators. An element that the symbols do not
// determine is unknown, never guessed.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORSYMBOLIC_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORSYMBOLIC_H

#include "dialects/Evaluator/SymbolicNumber.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace mlc {

/// The elements of a tensor in row-major order.
using Elements = llvm::SmallVector<MaybeNumber>;

struct SymbolicOptions {
  /// Maximum elements of a stage; larger definitions are not evaluated.
  int64_t maxElements = 4096;
  /// Maximum scalar steps of one operator.
  int64_t maxSteps = int64_t(1) << 18;
  /// The shared budget of steps of all operators; null: no limit.
  int64_t *stepsLeft = nullptr;
  /// Called with each expression that is assumed not to be negative although it
  /// may be for some sizes above 0; null: nothing is assumed.
  llvm::function_ref<void(IntExpr)> assumeNonNegative = nullptr;
};

/// The elements of each result. A null operand is unknown. Nothing if sizes are
/// open or too large, or if no element is known.
std::optional<std::vector<Elements>>
evaluateSymbolically(const Definition &definition,
                     llvm::ArrayRef<const Elements *> inputs,
                     const SymbolicOptions &options = {});

/// The elements of a literal: integers, bools, and floats that are exact in
/// float32, too. Nothing if there are more than `maxElements`.
std::optional<Elements> elementsOf(mlir::ElementsAttr literal,
                                   int64_t maxElements);

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORSYMBOLIC_H
