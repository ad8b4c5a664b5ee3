//===- Dist.h - Tensors of many ranks ---------------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_DIST_DIST_H
#define MLC_DIALECTS_DIST_DIST_H

#include "dialects/Graph/OpBase.h"
#include "mlir/IR/Dialect.h"
#include "runtime/Collective.h"

namespace mlc::dist {

/// On a module: the axes of the mesh, an array of AxisAttr.
inline constexpr llvm::StringLiteral kMeshAttr = "dist.mesh";
/// On a module, an i64: the bytes of gathers' results that may exist before
/// they are read, and the bytes that reduce-scatters in flight may read.
/// Without it kPrefetchLimit for gathers, and no limit for reduce-scatters.
inline constexpr llvm::StringLiteral kPrefetchLimitAttr = "dist.prefetch_limit";
inline constexpr int64_t kPrefetchLimit = int64_t(64) << 20;
/// On a module in which operators have stages: axes, each with the stages whose
/// samples it splits, although it splits weights of others. A dictionary of
/// DenseI64ArrayAttr; partitioning removes it.
inline constexpr llvm::StringLiteral kBatchStagesAttr = "dist.batch_stages";
/// On an operator: partial sums that it reads are reduced before it runs, not
/// after. Set on a cast to wider floats, so that narrow ones are exchanged.
inline constexpr llvm::StringLiteral kReduceFirstAttr = "dist.reduce_first";
/// On arguments and results of a function: a ShardingAttr.
inline constexpr llvm::StringLiteral kShardingAttr = "dist.sharding";
/// On an argument or a result that is a part: the dims of the whole tensor, a
/// DimsAttr.
inline constexpr llvm::StringLiteral kWholeAttr = "dist.whole";

/// The tensor is the `reduction` of the values of the ranks of `axis`.
struct Partial {
  mlir::StringAttr axis;
  Reduction reduction;
  bool operator==(const Partial &other) const {
    return axis == other.axis && reduction == other.reduction;
  }
};
llvm::hash_code hash_value(const Partial &partial);

/// Several operands of an in-place collective are one message, in which each
/// begins at a multiple of so many bytes.
inline constexpr int64_t kOperandAlignment = 64;

/// The runtime's row for the collective `op`. Null if there is none of that
/// name, because lowering expresses it by others, or if `op` is no collective.
const runtime::rows::Row *findRow(mlir::Operation *op);

/// The types of a collective's results, by its row and its attributes. Emits an
/// error at `op`.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferCollectiveTypes(mlir::Operation *op);

/// The number of elements of all operands of a collective.
IntExpr countExchanged(mlir::Operation *op);

} // namespace mlc::dist

#include "dialects/Dist/DistDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttributes.h.inc"

#include "dialects/Dist/DistInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Dist/Dist.h.inc"

#endif // MLC_DIALECTS_DIST_DIST_H
