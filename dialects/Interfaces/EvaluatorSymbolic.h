//===- EvaluatorSymbolic.h - Definitions on symbolic numbers ----*- C++ -*-===//
//
// What an operator computes where its operands' elements are exact numbers
// over symbols: sizes, and what shape arithmetic makes of them. It reads the
// Definition, as the evaluator does, so that there is no list of operators. An
// element whose number the symbols leave open is unknown, never guessed.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_EVALUATORSYMBOLIC_H
#define MLC_DIALECTS_INTERFACES_EVALUATORSYMBOLIC_H

#include "dialects/Interfaces/SymbolicNumber.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace mlc {

/// The elements of a tensor in row-major order.
using Elements = llvm::SmallVector<MaybeNumber>;

struct SymbolicOptions {
  /// Of a stage; a definition with a larger one is not evaluated.
  int64_t maxElements = 4096;
  /// Scalar steps of one operator.
  int64_t maxSteps = int64_t(1) << 18;
  /// And of all operators together, each taking its own; null: no limit.
  int64_t *stepsLeft = nullptr;
  /// Called with what is taken not to be negative where it is not for any
  /// sizes above 0; null: nothing is taken for granted.
  llvm::function_ref<void(IntExpr)> assumeNonNegative = nullptr;
};

/// The elements of each result. An operand that nothing is known of is null.
/// Nothing where sizes are open or too large, or no element is known.
std::optional<std::vector<Elements>>
evaluateSymbolically(const Definition &definition,
                     llvm::ArrayRef<const Elements *> inputs,
                     const SymbolicOptions &options = {});

/// The elements of a literal: integers, bools, and floats that are exact in
/// float32 too. Nothing where there are more than `maxElements`.
std::optional<Elements> elementsOf(mlir::ElementsAttr literal,
                                   int64_t maxElements);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_EVALUATORSYMBOLIC_H
