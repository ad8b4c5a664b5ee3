//===- Rank.h - A function of one rank along one axis -----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_RANK_H
#define MLC_PASSES_DISTRIBUTE_RANK_H

#include "passes/Distribute/Hints.h"

namespace mlc::dist {

/// Turns the body of `function` into the program of a rank of `axis`, for
/// arguments at these places. A result without a place gets the one at which it
/// is computed, not partial and with a dim split by its elements.
mlir::LogicalResult
makeRank(mlir::func::FuncOp function, llvm::ArrayRef<Place> arguments,
         llvm::MutableArrayRef<std::optional<Place>> results, AxisAttr axis,
         const PartitionOptions &options);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_RANK_H
