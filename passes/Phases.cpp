//===- Phases.cpp - The phases of a compilation, as data ------------------===//

#include "passes/Phases.h"
#include "passes/Pipeline.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

static constexpr StringRef graph[] = {"builtin", "func", "mlc"};
static constexpr StringRef linalgOnTensors[] = {
    "affine", "arith", "builtin", "func", "linalg", "math", "mlc", "tensor"};
static constexpr StringRef kernels[] = {
    "affine", "arith", "builtin", "exec", "func", "linalg", "math", "tensor"};

static const Phase phases[] = {
    {"import", "the model as a graph of operators", nullptr, graph},
    {"optimize", "proved rules applied where they pay, constants folded",
     addOptimizePasses, graph},
    {"layout", "blocked layouts and packed weights", addLayoutPasses, graph},
    {"lower", "every operator as linalg on tensors", addLowerPasses,
     linalgOnTensors},
    {"fuse", "kernels and the program that runs them", addFusePasses, kernels},
};

ArrayRef<Phase> getPhases() { return phases; }

const Phase *findPhase(StringRef name) {
  const Phase *it = llvm::find_if(
      phases, [&](const Phase &phase) { return phase.name == name; });
  return it == std::end(phases) ? nullptr : it;
}

LogicalResult checkPhase(ModuleOp module, const Phase &phase) {
  LogicalResult result = success();
  module.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (llvm::is_contained(phase.dialects, dialect))
      return;
    op->emitOpError() << "must not be left after the phase " << phase.name;
    result = failure();
  });
  return result;
}

} // namespace mlc
