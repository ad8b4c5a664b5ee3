//===- RunRanks.h - All ranks' programs by the evaluator --------*- C++ -*-===//
//
// Runs the ranks of a mesh together in the reference evaluator: each has its
// own tensors, and all execute the same operator at a time. Parts may differ in
// size. No code of the partitioner is used: a part's size follows from the
// types of the rank's function, and its begin from the parts before it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_RUNRANKS_H
#define MLC_PASSES_DISTRIBUTE_RUNRANKS_H

#include "dialects/Evaluator/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Mesh.h"

namespace mlc {

/// The dims of the whole arguments of `function`, a rank's program, from the
/// dims of its arguments on all ranks. `options.symbols` has all symbols but
/// `rank.AXIS`.
llvm::Expected<std::vector<llvm::SmallVector<int64_t>>>
wholeArgumentDims(mlir::func::FuncOp function,
                  llvm::ArrayRef<dist::AxisAttr> mesh,
                  const EvalOptions &options);

/// Splits `wholes` by the arguments' `dist.sharding`, runs all ranks, and
/// assembles their results by the results' shardings. Errors are EvalErrors:
/// those of operators, a replicated result that differs between ranks, a halo
/// wider than a neighbour's part, a partial argument.
llvm::Expected<std::vector<EvalTensor>>
runRanks(mlir::func::FuncOp function, llvm::ArrayRef<dist::AxisAttr> mesh,
         llvm::ArrayRef<EvalTensor> wholes, const EvalOptions &options);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_RUNRANKS_H
