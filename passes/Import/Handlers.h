//===- Handlers.h - The table of ONNX operators -----------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_HANDLERS_H
#define MLC_PASSES_IMPORT_HANDLERS_H

#include "passes/Import/Node.h"

namespace mlc {

using Handler = mlir::LogicalResult (*)(Node &);

/// How an ONNX operator is imported.
struct OperatorEntry {
  llvm::StringRef domain; // "" is ai.onnx
  llvm::StringRef name;
  unsigned minInputs; // required: present and with a type
  unsigned maxInputs; // more are an error
  Handler handler;
};

constexpr unsigned anyNumber = std::numeric_limits<unsigned>::max();

// One list per family, in the file of that name.
llvm::ArrayRef<OperatorEntry> pointwiseOperators();
llvm::ArrayRef<OperatorEntry> activationOperators();
llvm::ArrayRef<OperatorEntry> contractionOperators();
llvm::ArrayRef<OperatorEntry> quantizationOperators();
llvm::ArrayRef<OperatorEntry> convolutionOperators();
llvm::ArrayRef<OperatorEntry> poolingOperators();
llvm::ArrayRef<OperatorEntry> reductionOperators();
llvm::ArrayRef<OperatorEntry> normalizationOperators();
llvm::ArrayRef<OperatorEntry> lossOperators();
llvm::ArrayRef<OperatorEntry> optimizerOperators();
llvm::ArrayRef<OperatorEntry> randomOperators();
llvm::ArrayRef<OperatorEntry> scatteringOperators();
llvm::ArrayRef<OperatorEntry> movementOperators();
llvm::ArrayRef<OperatorEntry> slicingOperators();
llvm::ArrayRef<OperatorEntry> shapeOperators();
llvm::ArrayRef<OperatorEntry> resizeOperators();

/// The entry for an operator, or null.
const OperatorEntry *findOperator(llvm::StringRef domain, llvm::StringRef name);

/// Runs the entry's handler on `node`. A node that becomes several operators on
/// float16 or bfloat16 is computed in float32 throughout and rounded once.
mlir::LogicalResult importWith(const OperatorEntry &entry, Node &node);

/// Whether indices below 0 are out of range or count from the end.
enum class IndexKind { FromStart, AlsoFromEnd };

/// Records that `indices`, made from input `input` of the node, are used along
/// a dim of `extent`. Random inputs of the model are drawn accordingly
/// (ImportReport), and with ImportOptions::checked a run with other indices
/// fails.
void useAsIndices(Node &node, mlir::Value indices, unsigned input,
                  IntExpr extent, IndexKind kind);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_HANDLERS_H
