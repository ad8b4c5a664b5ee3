//===- LocalStatistics.h - Batch statistics of groups of samples -*- C++
//-*-===//

#ifndef MLC_PASSES_DISTRIBUTE_LOCALSTATISTICS_H
#define MLC_PASSES_DISTRIBUTE_LOCALSTATISTICS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// Has the means over the samples of a batch, and over all other dims but the
/// second (the channels), which batch normalization in training form takes of
/// `main`'s activations, be those of `groups` groups of samples, each for its
/// own. What else reads a mean, as the running statistics do, has that of the
/// first group. With a group for each rank that is what PyTorch's
/// DistributedDataParallel computes. `main` is a model as passes/Import makes
/// it. An error where the batch has no fixed number of samples, or one that is
/// no multiple of `groups`.
mlir::LogicalResult localizeStatistics(mlir::func::FuncOp main, int64_t groups);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_LOCALSTATISTICS_H
