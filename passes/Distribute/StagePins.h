//===- StagePins.h - Stages that split samples over more axes ---*- C++ -*-===//
//
// A stage of a pipeline may split its samples over an axis over which others
// split weights (docs/Pipelines.md, "Stages of different meshes"). What crosses
// from one to the other then changes its place there.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_STAGEPINS_H
#define MLC_PASSES_DISTRIBUTE_STAGEPINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Place.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::dist {

/// Of the results of operators that stand for their operand: where it has to
/// be.
using Pins = llvm::DenseMap<mlir::Value, Place>;

/// The stages (kStageAttr) whose samples `axis` splits, as kBatchStagesAttr of
/// the module says; empty: none.
llvm::SmallVector<int64_t> batchStagesOf(mlir::ModuleOp module, AxisAttr axis);

/// Pins each tensor of inputs that crosses between `stages` and others, in
/// front of its readers there: readers in `stages` get a part of its samples,
/// others all of it. A dim is one of samples if it follows from the first dim
/// of an input. What has none is left as it is, so that partitioning decides.
Pins pinStages(mlir::func::FuncOp function, llvm::ArrayRef<int64_t> stages,
               AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_STAGEPINS_H
