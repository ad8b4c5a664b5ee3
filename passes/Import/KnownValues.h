//===- KnownValues.h - What is known of values at import --------*- C++ -*-===//
//
// Shapes, axes and conditions of ONNX are tensors. Whoever needs the numbers
// of one asks here: where everything that a value is computed from is
// constant, its operators are evaluated by their definitions as a machine
// computes; where dims are among it, its elements are symbolic numbers
// (EvaluatorSymbolic.h). Nothing is evaluated before it is asked for, and
// nothing twice.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_IMPORT_KNOWNVALUES_H
#define MLC_PASSES_IMPORT_KNOWNVALUES_H

#include "dialects/Interfaces/EvaluatorSymbolic.h"
#include "dialects/Interfaces/EvaluatorTensor.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// Tensors with more elements than this are never tracked as numbers.
constexpr int64_t maxNumbers = 4096;
/// Literals with more are not computed.
constexpr int64_t maxLiteral = int64_t(1) << 18;

class KnownValues {
public:
  /// The value where it is constant; null where it is not, or where it would
  /// cost too much to say.
  mlir::ElementsAttr literalOf(mlir::Value value);

  /// The elements where the value is small and at least one of them is known.
  /// `assume`: SymbolicOptions::assumeNonNegative.
  const Elements *elementsOf(mlir::Value value,
                             llvm::function_ref<void(IntExpr)> assume);

private:
  bool isConstant(mlir::Value value);
  void evaluate(mlir::Operation *op);
  void evaluateElements(mlir::Operation *op,
                        llvm::function_ref<void(IntExpr)> assume);

  /// Operators of one import never go before all of it does.
  llvm::DenseMap<mlir::Value, bool> constants;
  llvm::DenseMap<mlir::Value, EvalTensor> tensors; // false: not computed
  llvm::DenseMap<mlir::Value, std::optional<Elements>> elements;
  /// What is left for all of a model: operations and bytes on machine numbers,
  /// steps on symbolic ones.
  int64_t budget = int64_t(1) << 28, symbolicSteps = int64_t(1) << 26;
};

} // namespace mlc

#endif // MLC_PASSES_IMPORT_KNOWNVALUES_H
