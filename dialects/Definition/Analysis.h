//===- Analysis.h - Costs and loops of definitions --------------*- C++ -*-===//
//
// Answers for the cost model, fusion and partitioning, all derived from the
// definition: operations and bytes, the kind of operator, which loops may be
// split across devices, and how far they reach into operands.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_ANALYSIS_H
#define MLC_DIALECTS_DEFINITION_ANALYSIS_H

#include "dialects/Definition/Definition.h"

namespace mlc {

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

struct DefinitionCost {
  /// Scalar operations on elements (a multiply-add counts 2); index arithmetic
  /// is free.
  IntExpr operations;
  /// The subset that are functions such as exp, sqrt, tanh, pow.
  IntExpr functions;
  /// Bytes of the operands that are read: at most the operand's size, and at
  /// most one element per point that reads it.
  IntExpr bytesRead;
  /// Bytes of the results.
  IntExpr bytesWritten;
  /// Bytes of stages that are not results.
  IntExpr bytesBetween;

  /// Operations per byte read or written, if all symbols have values.
  std::optional<double>
  intensity(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf)
      const;
};

DefinitionCost getCost(mlir::MLIRContext *context,
                       const Definition &definition);

/// Bytes of one element in memory (bool: 1).
int64_t getElementBytes(mlir::Type elementType);

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

struct DefinitionKind {
  /// Result element i depends only on element i of each operand.
  bool isElementwise = false;
  /// Elements are moved, not computed.
  bool isMovement = false;
  /// A movement that repeats elements along some result dim (broadcast).
  bool isReplicating = false;
  /// A stage sums products of elements of two tensors over shared loops.
  bool isContraction = false;
  /// Some stage has a reduction.
  bool hasReduction = false;
  /// No operands: numbers from dims and attributes.
  bool isLeaf = false;
};

DefinitionKind getKind(const Definition &definition);

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// How a loop may be split (FlexFlow's SOAP; its O is between operators).
enum class LoopRole {
  Sample,    // dim 0 of the result and of every activation that it indexes
  Attribute, // positions: indexes activations, not parameters
  Parameter, // indexes parameters only: splitting it splits the weights
  Parallel,  // any other loop of the result
  Reduction, // partial results have to be reduced
};
llvm::StringRef name(LoopRole role);

/// A dim of a tensor that a loop indexes: index = stride * loop + rest, with
/// rest in [low, high].
struct LoopAccess {
  TensorId tensor;
  unsigned dim;
  bool isLinear; // otherwise the fields below are null
  IntExpr stride, low, high;
  /// Neighbouring loop points read overlapping elements, or elements before or
  /// after their part: a split needs a halo.
  bool hasHalo() const;
};

struct LoopInfo {
  Loop loop;
  unsigned stage, piece;
  std::optional<unsigned> resultDim; // of the stage; none for reductions
  LoopRole role = LoopRole::Parallel;
  llvm::SmallVector<LoopAccess, 2> accesses;
  bool hasHalo = false;
  /// Every access is linear, so a part of the loop reads a box.
  bool isSplittable = true;
};

/// All loops of all stages, in order. `isParameter` tells which operands are
/// weights.
std::vector<LoopInfo> getLoops(const Definition &definition,
                               llvm::function_ref<bool(unsigned)> isParameter);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_ANALYSIS_H
