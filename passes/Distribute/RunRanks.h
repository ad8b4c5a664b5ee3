//===- RunRanks.h - All ranks' programs by the evaluator --------*- C++ -*-===//
//
// What the ranks of a mesh compute together, by the reference evaluator: each
// has tensors of its own, and all are at the same operator. Parts need not be
// alike. Nothing of the partitioner is used: how large a part is follows from
// the types of the rank's function, and where it begins from the parts before.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_RUNRANKS_H
#define MLC_PASSES_DISTRIBUTE_RUNRANKS_H

#include "dialects/Interfaces/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Mesh.h"

namespace mlc {

/// The dims of the whole tensors that `function`, which each rank carries out,
/// is given, by the arguments' dims on all ranks. `options.symbols` has all
/// symbols but `rank.AXIS`.
llvm::Expected<std::vector<llvm::SmallVector<int64_t>>>
wholeArgumentDims(mlir::func::FuncOp function,
                  llvm::ArrayRef<dist::AxisAttr> mesh,
                  const EvalOptions &options);

/// Cuts `wholes` by the arguments' `dist.sharding`, runs all ranks, and puts
/// their results together by theirs. Errors are EvalErrors: those of operators,
/// a result that is said to be the same on ranks that differ, a halo that is
/// more than a neighbour has, an argument that is partial.
llvm::Expected<std::vector<EvalTensor>>
runRanks(mlir::func::FuncOp function, llvm::ArrayRef<dist::AxisAttr> mesh,
         llvm::ArrayRef<EvalTensor> wholes, const EvalOptions &options);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_RUNRANKS_H
