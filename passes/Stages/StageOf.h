//===- StageOf.h - The stages of a step's operators -------------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_STAGEOF_H
#define MLC_PASSES_STAGES_STAGEOF_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schedule/StageEntry.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlc {

using runtime::schedule::StageEntry;

/// Fails at an operator with stages that another pass or a person has given, if
/// they are none.
mlir::LogicalResult checkStageAttributes(mlir::func::FuncOp function);

/// Which entries the operators of "accumulate" belong to.
///
/// An operator of the forward pass without kStageAttr (a part of the loss, a
/// cast) belongs to the last stage that it reads of, one of the backward pass
/// to the first. What reads a sum of gradients belongs to the backward pass.
/// What depends on states alone, and what has no operands, belongs to no entry:
/// each makes its own.
class StageOf {
public:
  StageOf(mlir::func::FuncOp accumulate, bool splitsBackward);

  int64_t countStages() const { return count; }
  /// Whether each entry that reads the operator carries it out.
  bool isRepeated(mlir::Operation *op) const { return repeated.contains(op); }
  /// Of an operator that is not repeated.
  StageEntry entryOf(mlir::Operation *op) const { return entries.lookup(op); }

private:
  void findRepeated();
  void findStages();
  void findKinds(bool splitsBackward);

  mlir::func::FuncOp function;
  int64_t count = 1;
  llvm::DenseSet<mlir::Operation *> repeated, backward;
  llvm::DenseMap<mlir::Operation *, StageEntry> entries;
};

} // namespace mlc

#endif // MLC_PASSES_STAGES_STAGEOF_H
