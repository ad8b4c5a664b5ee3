//===- TopK.h - top_k of a split tensor -------------------------*- C++ -*-===//
//
// top_k has no definition that could be restricted to parts. Its interface says
// that it does the same to every row along its axis. And the first k of all are
// among the first k of each part; equal elements keep their order, the lower
// index first, because parts lie in the order of ranks.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_TOPK_H
#define MLC_PASSES_DISTRIBUTE_TOPK_H

#include "dialects/Graph/OpaqueOps.h"
#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// Brings a tensor to a place.
using Bring = llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value,
                                                              const Place &)>;

/// Adds the results of `op` to `parts`: of each rank's rows if another dim is
/// split, or of the candidates that all ranks have found in their parts. False
/// if it moves no fewer bytes than having the operand whole, or if each part is
/// not known to have equally many candidates.
mlir::FailureOr<bool> emitTopK(mlir::OpBuilder &builder, TopKOp op,
                               Parts &parts, const Hints &hints, AxisAttr axis,
                               Bring bring);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_TOPK_H
