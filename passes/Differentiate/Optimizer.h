//===- Optimizer.h - How a gradient changes a weight ------------*- C++ -*-===//
//
// Update rules as definitions, those of PyTorch's torch.optim; options have its
// names. Momentum: Polyak 1964, Nesterov 1983; Adam: Kingma and Ba 2015; AdamW:
// Loshchilov and Hutter 2019.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_OPTIMIZER_H
#define MLC_PASSES_DIFFERENTIATE_OPTIMIZER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "passes/Differentiate/TrainingOptions.h"

namespace mlc {

/// A weight with its states, before or after a step.
struct TrainedValue {
  mlir::Value weight;
  llvm::SmallVector<mlir::Value, 2> states;
};

/// The factor by which clipNorm scales these gradients, all of one type; a
/// tensor without dims.
mlir::FailureOr<mlir::Value> createClipping(mlir::OpBuilder &builder,
                                            mlir::Location loc,
                                            mlir::ValueRange gradients,
                                            double clipNorm);

/// One step for one weight. `scalars` are those of scalarsOf; `clipping` comes
/// from createClipping or is null.
mlir::FailureOr<TrainedValue>
createUpdate(mlir::OpBuilder &builder, mlir::Location loc,
             const OptimizerOptions &options, const TrainedValue &before,
             mlir::Value gradient, mlir::ValueRange scalars,
             mlir::Value clipping);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_OPTIMIZER_H
