//===- Stages.h - A step of training in stages ------------------*- C++ -*-===//
//
// A pipeline runs a step of training in stages, each on ranks of its own. The
// operators of the model are assigned to stages before differentiation, and the
// step with its gradients is cut after it (docs/Pipelines.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_STAGES_STAGES_H
#define MLC_PASSES_STAGES_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/plan/Plan.h"

namespace mlc {

/// `mlc-assign-stages`, with the stages of the plan, which has at least one.
std::unique_ptr<mlir::Pass>
createAssignStagesPass(const runtime::StagePlan &stages);

/// Nodes of the model's graph that stages can end with, in order, so that they
/// cut it into at most `most` parts, which are about equally heavy; of the
/// nodes near an even cut the one behind which least crosses it. Empty for a
/// model whose operators have no names.
std::vector<std::string> listStageEnds(mlir::ModuleOp module, size_t most);

/// `mlc-slice-sequence`, after stages are assigned.
std::unique_ptr<mlir::Pass> createSliceSequencePass(int64_t slices);

/// `mlc-cut-stages`, for the schedule of a plan.
std::unique_ptr<mlir::Pass>
createCutStagesPass(const runtime::TrainingPlan &plan);

/// `mlc-cut-forward`, for a model without training.
std::unique_ptr<mlir::Pass>
createCutForwardPass(const runtime::ForwardPlan &plan);

} // namespace mlc

#endif // MLC_PASSES_STAGES_STAGES_H
