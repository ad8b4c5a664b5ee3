//===- Training.h - A model's loss and its gradients ------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_TRAINING_H
#define MLC_PASSES_DIFFERENTIATE_TRAINING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Differentiate/Loss.h"
#include "passes/Differentiate/Optimizer.h"
#include "passes/Differentiate/Precision.h"
#include <string>

namespace mlc {

/// Makes `main`, a model as passes/Import makes it, compute its loss and
/// gradients. It takes the inputs, the target (if the loss has one) and the
/// parameters. It returns the loss, called "loss" and in float32 or wider, and
/// the gradient of each parameter, under the parameter's name. Fails with an
/// error at the op that prevents it.
mlir::LogicalResult addLossAndGradients(mlir::func::FuncOp main,
                                        const LossOptions &options);

/// The same as a part of training. Parameters of 16-bit floats become float32.
/// Random numbers are drawn for an argument "step" after the target. If
/// `scalesLoss`, the gradients are multiplied by an argument "loss scale" after
/// that. The new values of running statistics, which have no gradient, are
/// results after the gradients (kUpdatesAttr).
mlir::LogicalResult addScaledGradients(mlir::func::FuncOp main,
                                       const LossOptions &options,
                                       bool scalesLoss);

/// Makes `main` compute its loss alone, called "loss". With `countsRight`, for
/// LossKind::CrossEntropy, the result "right" is how many labels are right
/// (createRightCount). Parameters of 16-bit floats become float32.
mlir::LogicalResult addLossAlone(mlir::func::FuncOp main,
                                 const LossOptions &options, bool countsRight);

/// The model to train: the function @main, of one block. Emits the error.
mlir::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module);

/// Turns the parameters that `output` of `main` does not depend on into
/// constants, in all functions of the module, and returns their names. `main`
/// is a model as passes/Import makes it. A parameter without a gradient is not
/// trained, whatever the optimizer does to weights.
mlir::FailureOr<llvm::SmallVector<std::string>>
dropUnreadParameters(mlir::func::FuncOp main, llvm::StringRef output);

/// The type of a scalar that an update reads: no dims, as exact as the
/// parameters.
mlir::RankedTensorType numberType(mlir::func::FuncOp main);

/// Turns `main` into a step of training.
/// Arguments, in order: the inputs; the target (if the loss has one); "step" if
/// random numbers are drawn, a ui64 that tells the steps apart; the optimizer's
/// scalars; the weights; the running statistics (main returned a new value for
/// them, kUpdatesAttr); the states of each weight. The weights and statistics
/// were parameters and are now ordinary arguments.
/// Results, in order: the loss, the new weights, the new statistics and the new
/// states.
/// Weights are floats; those of 16 bits become float32. Scalars and states have
/// the optimizer's names, a state with `/` and its weight appended. If the
/// optimizer scales the loss, the last scalar is "loss scale" and the last
/// result is "finite": 0 if nothing was changed, else 1.
mlir::LogicalResult addTrainingStep(mlir::func::FuncOp main,
                                    const LossOptions &loss,
                                    const OptimizerOptions &optimizer);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_TRAINING_H
