//===- LocalStatistics.h - Batch statistics per group -----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_LOCALSTATISTICS_H
#define MLC_PASSES_DISTRIBUTE_LOCALSTATISTICS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// Computes batch statistics per group of samples. The means that batch
/// normalization in training form takes of `main`'s activations, over the
/// samples and all dims but the channels (dim 1), become those of `groups`
/// groups. Other readers of a mean, such as the running statistics, get that of
/// the first group. One group per rank matches PyTorch's
/// DistributedDataParallel. `main` is a model as passes/Import makes it. An
/// error if the batch size is not fixed or no multiple of `groups`.
mlir::LogicalResult localizeStatistics(mlir::func::FuncOp main, int64_t groups);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_LOCALSTATISTICS_H
