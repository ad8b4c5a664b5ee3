//===- Entries.h - The entries of training ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_ENTRIES_H
#define MLC_PASSES_DIFFERENTIATE_ENTRIES_H

#include "mlir/Pass/Pass.h"
#include "passes/Differentiate/Training.h"

namespace mlc {

/// Makes of `main`, a model as passes/Import makes it, and its module what
/// trains it, over states: each weight and running statistic, "weight/" and its
/// name, without a first value; what the optimizer keeps of it, as the
/// optimizer calls it with "/" and its name behind, 0 in the beginning.
///
/// For steps of one batch, and unless it is apart: the entry "step", as
/// addTrainingStep makes it, whose results are the loss and, where it is
/// scaled, "finite". Else: "accumulate", of the inputs, the target and, where
/// random numbers are drawn, "step", where the loss is scaled "loss scale",
/// then the number "keep", gives the loss and adds the gradients to the states
/// "gradient/" and the weight's name, or sets them where "keep" is 0; "apply",
/// of the optimizer's scalars and "loss scale", makes a step with their mean,
/// and gives "finite".
///
/// "evaluate" is of the inputs and the target, and gives the loss and, where
/// that is asked for, "right", how many labels are. It is made of a function
/// "evaluate" of the module's, the model in another form with the same
/// parameters, if there is one, else of `main`.
mlir::LogicalResult addTrainingEntries(mlir::func::FuncOp main,
                                       const LossOptions &loss,
                                       const OptimizerOptions &optimizer,
                                       const TrainingEntries &entries);

/// `mlc-add-gradients`, which does what addLossAndGradients does.
std::unique_ptr<mlir::Pass> createGradientsPass(const LossOptions &loss);

/// `mlc-add-training-step`, which does what addTrainingEntries does; there is
/// an optimizer.
std::unique_ptr<mlir::Pass>
createTrainingStepPass(const DifferentiateOptions &training);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_ENTRIES_H
