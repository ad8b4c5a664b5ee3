//===- StagedModel.h - A model that is trained in stages --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGEDMODEL_H
#define MLC_TOOLS_MLC_STAGEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Pipeline.h"
#include "runtime/Training.h"
#include "runtime/plan/Plan.h"
#include "llvm/Support/Error.h"

namespace onnx {
class GraphProto;
}

namespace mlc::cli {

/// Names nodes of the module to end stages with, where nodes that the plan
/// names are gone after the import (they do nothing, or nobody reads them): the
/// last ones before them.
void resolveEnds(const onnx::GraphProto &graph, mlir::ModuleOp module,
                 std::vector<std::string> &ends);

/// Says by which table of actions the stages run.
runtime::Status describeStages(const runtime::TrainingPlan &plan,
                               runtime::Training &training);

/// What an artifact says of the pipeline that the phase distribute has made of
/// the module, whose note of its ports it takes away.
llvm::Expected<runtime::Pipeline>
takePipeline(mlir::ModuleOp module, const runtime::ForwardPlan &plan);

/// Whether a rank runs an entry of staged training, by its name.
std::function<bool(llvm::StringRef)>
entriesOfRank(const runtime::TrainingPlan &plan, int64_t rank);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STAGEDMODEL_H
