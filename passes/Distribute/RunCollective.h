//===- RunCollective.h - A collective on given tensors ----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_RUNCOLLECTIVE_H
#define MLC_PASSES_DISTRIBUTE_RUNCOLLECTIVE_H

#include "dialects/Dist/Dist.h"
#include "dialects/Evaluator/Evaluator.h"

namespace mlc {

/// The values of the ranks of a group for one operand, in the order of the
/// ranks, and the dims of the result on each.
struct RankGroup {
  llvm::ArrayRef<EvalTensor> tensors;
  llvm::ArrayRef<llvm::SmallVector<int64_t>> resultDims;
};

/// The result of rank `rank` of the group for operand `operand` of `op`. Ranks'
/// parts may differ in size. Written independently of StackedOpInterface, to
/// check it.
llvm::Expected<EvalTensor> runCollective(mlir::Operation *op, unsigned operand,
                                         const RankGroup &group, unsigned rank,
                                         const EvalOptions &options);

/// Concatenates all parts of a tensor along `dim`.
llvm::Expected<EvalTensor> joinParts(mlir::MLIRContext *context,
                                     llvm::ArrayRef<EvalTensor> parts,
                                     unsigned dim, const EvalOptions &options);

/// The elementwise reduction of all tensors.
llvm::Expected<EvalTensor> reduceRanks(mlir::MLIRContext *context,
                                       llvm::ArrayRef<EvalTensor> tensors,
                                       ReduceKind kind,
                                       const EvalOptions &options);

/// The elements of `whole` from `begin` on, as many as `dims` says.
llvm::Expected<EvalTensor> takePart(mlir::MLIRContext *context,
                                    const EvalTensor &whole,
                                    llvm::ArrayRef<int64_t> begin,
                                    llvm::ArrayRef<int64_t> dims,
                                    const EvalOptions &options);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_RUNCOLLECTIVE_H
