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

/// Makes of `main`, a model as passes/Import makes it, what its loss and the
/// gradients are computed by: of the inputs, the target (where the loss has
/// one) and the parameters to the loss, called "loss" and at least of float32,
/// and the gradient of each parameter, which has its name. Fails with an error
/// at what is in the way.
mlir::LogicalResult addLossAndGradients(mlir::func::FuncOp main,
                                        const LossOptions &options);

/// The same as a part of training: parameters of 16-bit floats are float32 ones
/// here, random numbers are drawn for an argument "step" behind the target, the
/// gradients are as many times larger as an argument "loss scale" behind that
/// says where `scalesLoss`, and the new values of running statistics, which
/// have no gradient, are results behind the gradients (kUpdatesAttr).
mlir::LogicalResult addScaledGradients(mlir::func::FuncOp main,
                                       const LossOptions &options,
                                       bool scalesLoss);

/// Makes of `main` what its loss alone is computed by; called "loss". With
/// `countsRight`, of LossKind::CrossEntropy, "right" is how many labels are
/// (createRightCount). Parameters of 16-bit floats are float32 ones here.
mlir::LogicalResult addLossAlone(mlir::func::FuncOp main,
                                 const LossOptions &options, bool countsRight);

/// The model that is trained: the function @main, of one block. Emits the
/// error.
mlir::FailureOr<mlir::func::FuncOp> findModel(mlir::ModuleOp module);

/// Makes constants of the parameters that `output` of `main`, a model as
/// passes/Import makes it, does not depend on, in all functions of its module;
/// their names. What has no gradient is not trained, whatever the optimizer
/// does to weights.
mlir::FailureOr<llvm::SmallVector<std::string>>
dropUnreadParameters(mlir::func::FuncOp main, llvm::StringRef output);

/// Of a scalar that an update reads: without dims, as exact as the parameters.
mlir::RankedTensorType numberType(mlir::func::FuncOp main);

/// Makes of `main` a step of training. Its arguments are the inputs, the target
/// (where the loss has one), where random numbers are drawn "step", a ui64 that
/// tells the steps apart, the scalars of the optimizer, and then, which were
/// parameters and are arguments as all others now, the weights and the running
/// statistics (that main returned a new value of, kUpdatesAttr), and for each
/// weight its states; its results are the loss, the new weights, the new
/// statistics and the new states, in that order. Weights are of floats; those
/// of 16 bits are float32 here. A scalar or a state is called as the optimizer
/// calls it, a state with `/` and its weight behind. Where the optimizer scales
/// the loss, the last scalar is the "loss scale", and the last result,
/// "finite", is 0 where all stayed as it was, else 1.
mlir::LogicalResult addTrainingStep(mlir::func::FuncOp main,
                                    const LossOptions &loss,
                                    const OptimizerOptions &optimizer);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_TRAINING_H
