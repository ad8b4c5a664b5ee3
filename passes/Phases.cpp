//===- Phases.cpp - The phases of a compilation, as data ------------------===//

#include "passes/Phases.h"
#include "passes/Pipeline.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

static const Phase phases[] = {
    {"import", "the model as a graph of operators", nullptr, Form::Graph,
     false},
    {"optimize", "proved rules applied where they pay, constants folded",
     addOptimizePasses, Form::Graph, false},
    {"layout", "blocked layouts and packed weights", addLayoutPasses,
     Form::Graph, true},
    {"lower", "every operator as linalg on tensors", addLowerPasses,
     Form::Lowered, true},
    {"fuse", "kernels and the program that runs them", addFusePasses,
     Form::Kernels, true},
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
