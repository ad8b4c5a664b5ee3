//===- KnownValues.h - Values known at import -------------------*- C++ -*-===//
//
// ONNX passes shapes, axes and conditions as tensors. Handlers that need their
// numbers ask here. If a value depends on constants alone, its operators are
// evaluated by their definitions on machine numbers. If it depends on dims, its
// elements are symbolic numbers (EvaluatorSymbolic.h). Evaluation is lazy, and
// happens once.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_IMPORT_KNOWNVALUES_H
#define MLC_PASSES_IMPORT_KNOWNVALUES_H

#include "dialects/Evaluator/EvaluatorSymbolic.h"
#include "dialects/Evaluator/EvaluatorTensor.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// Tensors with more elements than this are never tracked as numbers.
constexpr int64_t maxNumbers = 4096;
/// Literals with more elements are not computed.
constexpr int64_t maxLiteral = int64_t(1) << 18;

class KnownValues {
public:
  /// The value if it is constant; null if it is not, or if it is too expensive
  /// to write out.
  mlir::ElementsAttr literalOf(mlir::Value value);

  /// The elements if the value is small and at least one of them is known.
  /// `assume`: SymbolicOptions::assumeNonNegative.
  const Elements *elementsOf(mlir::Value value,
                             llvm::function_ref<void(IntExpr)> assume);

private:
  bool isConstant(mlir::Value value);
  void evaluate(mlir::Operation *op);
  void evaluateElements(mlir::Operation *op,
                        llvm::function_ref<void(IntExpr)> assume);

  /// Entries stay valid: operators live until the import ends.
  llvm::DenseMap<mlir::Value, bool> constants;
  llvm::DenseMap<mlir::Value, EvalTensor> tensors; // false: not computed
  llvm::DenseMap<mlir::Value, std::optional<Elements>> elements;
  /// The remaining budget for a whole model: operations and bytes on machine
  /// numbers, and steps on symbolic ones.
  int64_t budget = int64_t(1) << 28, symbolicSteps = int64_t(1) << 26;
};

} // namespace mlc

#endif // MLC_PASSES_IMPORT_KNOWNVALUES_H
