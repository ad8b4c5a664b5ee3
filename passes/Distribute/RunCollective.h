//===- RunCollective.h - A collective on given tensors ----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_RUNCOLLECTIVE_H
#define MLC_PASSES_DISTRIBUTE_RUNCOLLECTIVE_H

#include "dialects/Dist/Dist.h"
#include "dialects/Interfaces/Evaluator.h"

namespace mlc {

/// What the ranks of a group have of one operand, in their order, and the dims
/// of the result on each.
struct RankGroup {
  llvm::ArrayRef<EvalTensor> tensors;
  llvm::ArrayRef<llvm::SmallVector<int64_t>> resultDims;
};

/// What rank `rank` of the group gets for operand `operand` of `op`. Parts of
/// ranks may differ in size. Written beside StackedOpInterface, not from it.
llvm::Expected<EvalTensor> runCollective(mlir::Operation *op, unsigned operand,
                                         const RankGroup &group, unsigned rank,
                                         const EvalOptions &options);

/// All parts of a tensor behind each other along `dim`.
llvm::Expected<EvalTensor> joinParts(mlir::MLIRContext *context,
                                     llvm::ArrayRef<EvalTensor> parts,
                                     unsigned dim, const EvalOptions &options);

/// Element by element the reduction of all.
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
