//===- Collectives.h - What ranks exchange, in a program --------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_COLLECTIVES_H
#define MLC_PASSES_FUSE_COLLECTIVES_H

#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Collective.h"

namespace mlc {

/// Whether ranks exchange something in `op`: an operator of the dist dialect.
bool isCollective(mlir::Operation *op);

/// What the runtime knows of the collective `op`; null where it has none of
/// that name, which lowering puts in others' terms, or `op` is no collective.
const runtime::rows::Row *findRow(mlir::Operation *op);

/// Gives each operand that a collective overwrites memory that nobody else
/// reads: a copy, unless one op computes it for the collective alone. For a
/// lowered function, before its shapes are read.
void copySharedOperands(mlir::func::FuncOp function);

/// How many bytes of what gathers make may be there before anybody reads it:
/// what the module's kGatherWindowAttr says, or 64 MiB. Emits an error where
/// that is no number of bytes.
mlir::FailureOr<int64_t> getGatherWindow(mlir::ModuleOp module);

/// The axis of that name of the module's mesh; null where there is none.
dist::AxisAttr findAxis(mlir::ModuleOp module, llvm::StringRef name);

/// The axis that a symbol is this rank's coordinate on; null where it is none.
dist::AxisAttr findAxisOfRank(mlir::ModuleOp module, llvm::StringRef symbol);

/// The dims of the tensor whose part on each rank has dims `part`, with this
/// sharding. Emits an error at `module` where they are no numbers, or not those
/// of a part.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getWholeDims(mlir::ModuleOp module, dist::ShardingAttr sharding,
             llvm::ArrayRef<IntExpr> part, const llvm::Twine &what);

} // namespace mlc

#endif // MLC_PASSES_FUSE_COLLECTIVES_H
