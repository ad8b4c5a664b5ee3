//===- Rank.h - A function of one rank along one axis -----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_RANK_H
#define MLC_PASSES_DISTRIBUTE_RANK_H

#include "passes/Distribute/Hints.h"

namespace mlc::dist {

/// Makes of the body of `function` what a rank of `axis` carries out, of
/// arguments that are at these places. A result without a place gets that at
/// which it comes out, which is not partial and splits a dim by its elements.
mlir::LogicalResult
makeRank(mlir::func::FuncOp function, llvm::ArrayRef<Place> arguments,
         llvm::MutableArrayRef<std::optional<Place>> results, AxisAttr axis,
         const PartitionOptions &options);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_RANK_H
