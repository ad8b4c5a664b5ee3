//===- MicroBatches.h - Parts of a batch that run by themselves -*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_MICROBATCHES_H
#define MLC_PASSES_STAGES_MICROBATCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

namespace mlc {

/// Which arguments and results of a model have a part for each micro-batch,
/// along their first dim. The others are the same for all.
struct DividedPorts {
  llvm::SmallVector<bool> arguments, results;
};

/// Finds them: what has the first dim of the first argument with an open one,
/// or else of the first one with dims. Fails with an error at an argument or
/// result that is of samples otherwise, and at a result that is of none.
///
/// Where the number of samples is open, results of micro-batches one after
/// another have to be those of the whole batch. So this also fails at an
/// operator whose result for a sample depends on other samples or on how many
/// there are.
mlir::FailureOr<DividedPorts> findDividedPorts(mlir::func::FuncOp main);

} // namespace mlc

#endif // MLC_PASSES_STAGES_MICROBATCHES_H
