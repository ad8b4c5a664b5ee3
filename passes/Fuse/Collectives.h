//===- Collectives.h - Collectives in programs ------------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_COLLECTIVES_H
#define MLC_PASSES_FUSE_COLLECTIVES_H

#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// Whether `op` is a collective: an operator of the dist dialect.
bool isCollective(mlir::Operation *op);

/// Gives each operand that a collective overwrites memory without other
/// readers: a copy, unless one op computes it for the collective alone. For a
/// lowered function, before its shapes are read.
void copySharedOperands(mlir::func::FuncOp function);

/// The bytes of gathers' results that may exist before they are read: the
/// module's kPrefetchLimitAttr, or 64 MiB. Emits an error if that is not a
/// number of bytes.
mlir::FailureOr<int64_t> getPrefetchLimit(mlir::ModuleOp module);

/// The axis of that name in the module's mesh; null if there is none.
dist::AxisAttr findAxis(mlir::ModuleOp module, llvm::StringRef name);

/// The axis on which a symbol is this rank's coordinate; null if there is none.
dist::AxisAttr findAxisOfRank(mlir::ModuleOp module, llvm::StringRef symbol);

/// The dims of the whole tensor whose part on each rank has dims `part`, with
/// this sharding. Emits an error at `module` if they are not numbers, or not
/// those of a part.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getWholeDims(mlir::ModuleOp module, dist::ShardingAttr sharding,
             llvm::ArrayRef<IntExpr> part, const llvm::Twine &what);

} // namespace mlc

#endif // MLC_PASSES_FUSE_COLLECTIVES_H
