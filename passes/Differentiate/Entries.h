//===- Entries.h - The entries of training ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_ENTRIES_H
#define MLC_PASSES_DIFFERENTIATE_ENTRIES_H

#include "mlir/Pass/Pass.h"
#include "passes/Differentiate/Training.h"

namespace mlc {

/// Turns `main`, a model as passes/Import makes it, and its module into
/// training entries over states. Each weight and running statistic becomes the
/// state "weight/NAME", without a first value. Each of the optimizer's states
/// is called as the optimizer calls it, with "/NAME" appended, and starts at 0.
///
/// For steps of one batch, unless computed apart, there is the entry "step", as
/// addTrainingStep makes it; its results are the loss and, if the loss is
/// scaled, "finite". Otherwise there are two entries. "accumulate" takes the
/// inputs, the target, "step" if random numbers are drawn, "loss scale" if the
/// loss is scaled, and the number "keep". It returns the loss and adds the
/// gradients to the states "gradient/NAME", or sets them if "keep" is 0.
/// "apply" takes the optimizer's scalars and "loss scale", makes a step with
/// the mean gradients, and returns "finite".
///
/// "evaluate" takes the inputs and the target, and returns the loss and, if
/// asked for, "right": how many labels are right. It is made from the module's
/// function "evaluate", the model in another form with the same parameters, if
/// there is one; otherwise from `main`.
mlir::LogicalResult addTrainingEntries(mlir::func::FuncOp main,
                                       const LossOptions &loss,
                                       const OptimizerOptions &optimizer,
                                       const TrainingEntries &entries);

/// `mlc-add-gradients`, which runs addLossAndGradients.
std::unique_ptr<mlir::Pass> createGradientsPass(const LossOptions &loss);

/// `mlc-add-training-step`, which runs addTrainingEntries. Requires an
/// optimizer.
std::unique_ptr<mlir::Pass>
createTrainingStepPass(const DifferentiateOptions &training);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_ENTRIES_H
