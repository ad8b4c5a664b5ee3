//===- Training.h - A model's loss and its gradients ------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_TRAINING_H
#define MLC_PASSES_DIFFERENTIATE_TRAINING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Differentiate/Loss.h"
#include "passes/Differentiate/Optimizer.h"
#include <string>

namespace mlc {

struct LossOptions {
  LossKind kind = LossKind::Output;
  /// By its `mlc.name`; empty: the first.
  std::string output;
  /// The axis of the classes, from the end where negative.
  int64_t classAxis = 1;
  /// What the target's argument is called.
  std::string target = "target";
};

/// Makes of `main`, a model as passes/Import makes it, what its loss and the
/// gradients are computed by: of the inputs, the target (where the loss has
/// one) and the parameters to the loss, called "loss", and the gradient of each
/// parameter, which has its name. Fails with an error at what is in the way.
mlir::LogicalResult addLossAndGradients(mlir::func::FuncOp main,
                                        const LossOptions &options);

/// Makes of `main` what its loss alone is computed by; called "loss".
mlir::LogicalResult addLossAlone(mlir::func::FuncOp main,
                                 const LossOptions &options);

/// Has all random numbers drawn for the step that the argument "step" at
/// `place` is to count; there is none where nothing is drawn.
mlir::LogicalResult countSteps(mlir::func::FuncOp main, unsigned place);

/// Makes of `main` a step of training. Its arguments are the inputs, the target
/// (where the loss has one), where random numbers are drawn "step", a ui64 that
/// tells the steps apart, the scalars of the optimizer, and then, which were
/// parameters and are arguments as all others now, the weights and for each of
/// them its states; its results are the loss, the new weights and the new
/// states, in that order. Weights are of float32 or float64. A scalar or a
/// state is called as the optimizer calls it, a state with `/` and its weight
/// behind.
mlir::LogicalResult addTrainingStep(mlir::func::FuncOp main,
                                    const LossOptions &loss,
                                    const OptimizerOptions &optimizer);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_TRAINING_H
