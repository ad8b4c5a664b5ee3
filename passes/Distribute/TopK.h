//===- TopK.h - The largest elements of a tensor that is split --*- C++ -*-===//
//
// top_k has no definition by which it could be restricted to parts. By what it
// says of itself, it does the same to every row along its axis; and the k first
// of all are among the k first of each part, in the order of which equal
// elements stay: the lower index first, where parts lie in the order of ranks.
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

/// Has the results of `op`, in `parts`: of each rank's rows where another dim
/// is split, or of what all ranks have found in their parts of its own. False
/// where it takes no more bytes to have the operand whole, or it is not known
/// that each part has as many candidates.
mlir::FailureOr<bool> emitTopK(mlir::OpBuilder &builder, TopKOp op,
                               Parts &parts, const Hints &hints, AxisAttr axis,
                               Bring bring);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_TOPK_H
