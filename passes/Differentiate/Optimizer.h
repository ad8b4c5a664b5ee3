//===- Optimizer.h - How a gradient changes a weight ------------*- C++ -*-===//
//
// Update rules as definitions. They are those of PyTorch's torch.optim, whose
// names the options have. Momentum: Polyak 1964, Nesterov 1983; Adam: Kingma
// and Ba 2015; AdamW: Loshchilov and Hutter 2019.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_OPTIMIZER_H
#define MLC_PASSES_DIFFERENTIATE_OPTIMIZER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "runtime/Training.h"
#include <optional>

namespace mlc {

enum class OptimizerKind {
  SGD,      ///< w - rate g
  Momentum, ///< v = momentum v + g;  w - rate v
  Adam,     ///< weight decay is part of the gradient
  AdamW,    ///< weight decay shrinks the weight by itself
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::SGD;
  double momentum = 0.9;
  /// Momentum: w - rate (g + momentum v).
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weightDecay = 0;
  /// Where positive: all gradients are made smaller, by one factor, until the
  /// norm of all of them together is at most this.
  double clipNorm = 0;
  /// The loss's cotangent is a number that a step is told, and gradients are
  /// divided by it. Where one of them is not finite, all stays as it was.
  bool scalesLoss = false;
};

/// What an optimizer keeps of each weight beside it, of the weight's dims and 0
/// in the beginning: "momentum"; "first moment" and "second moment".
llvm::ArrayRef<llvm::StringLiteral> statesOf(OptimizerKind kind);

/// Numbers, tensors of floats without dims, that an update reads and that
/// change from step to step: the learning rate and, for Adam and AdamW,
/// 1 - beta1^t and 1 - beta2^t in step t, the first being 1.
llvm::ArrayRef<runtime::InputRole> scalarsOf(OptimizerKind kind);

/// A weight with its states, before or after a step.
struct TrainedValue {
  mlir::Value weight;
  llvm::SmallVector<mlir::Value, 2> states;
};

/// The factor of clipNorm for these gradients, of one type; a tensor without
/// dims.
mlir::FailureOr<mlir::Value> createClipping(mlir::OpBuilder &builder,
                                            mlir::Location loc,
                                            mlir::ValueRange gradients,
                                            double clipNorm);

/// One step for one weight. `scalars` are of scalarsOf, `clipping` is of
/// createClipping or null.
mlir::FailureOr<TrainedValue>
createUpdate(mlir::OpBuilder &builder, mlir::Location loc,
             const OptimizerOptions &options, const TrainedValue &before,
             mlir::Value gradient, mlir::ValueRange scalars,
             mlir::Value clipping);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_OPTIMIZER_H
