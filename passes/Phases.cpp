//===- Phases.cpp - The phases of a compilation, as data ------------------===//

#include "passes/Phases.h"
#include "passes/Pipeline.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

static void differentiate(OpPassManager &pm, const PipelineOptions &options) {
  const std::optional<runtime::TrainingPlan> &split = options.plan.training;
  if (options.training)
    addDifferentiatePasses(pm, *options.training,
                           split ? options.plan : runtime::Plan());
}

static void distribute(OpPassManager &pm, const PipelineOptions &options) {
  addDistributePasses(pm, options.plan);
}

static const Phase phases[] = {
    {"import", "the model as a graph of operators", nullptr, Form::Graph, false,
     Exit::Internal},
    {"differentiate", "its loss with gradients, or a step of training",
     differentiate, Form::Graph, false, Exit::Unsupported},
    {"distribute", "what one of several ranks carries out", distribute,
     Form::Graph, false, Exit::Unsupported},
    {"optimize", "proved rules applied where they pay, constants folded",
     addOptimizePasses, Form::Graph, false, Exit::Internal},
    {"layout", "blocked layouts and packed weights", addLayoutPasses,
     Form::Graph, true, Exit::Internal},
    {"lower", "every operator as linalg on tensors", addLowerPasses,
     Form::Lowered, true, Exit::Internal},
    {"fuse", "kernels and the program that runs them", addFusePasses,
     Form::Kernels, true, Exit::Internal},
};

ArrayRef<Phase> getPhases() { return phases; }

const Phase *findPhase(StringRef name) {
  const Phase *it = llvm::find_if(
      phases, [&](const Phase &phase) { return phase.name == name; });
  return it == std::end(phases) ? nullptr : it;
}

LogicalResult checkPhase(ModuleOp module, const Phase &phase) {
  return checkForm(module, phase.form,
                   "must not be left after the phase " + phase.name);
}

} // namespace mlc
