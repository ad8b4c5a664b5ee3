//===- Pipeline.cpp - Every pass, in order --------------------------------===//
//
// The whole compiler as one list. Each pass has a line of why; the phases that
// they make up stand in Phases.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "dialects/Dist/Dist.h"
#include "passes/Fuse/Fuse.h"
#include "passes/Fuse/TransformConstants.h"
#include "passes/Layout/Layout.h"
#include "passes/Lower/Lower.h"
#include "passes/Optimize/ApplyRules.h"
#include "passes/Optimize/ConstantFold.h"
#include "passes/Optimize/Prepare.h"

using namespace mlir;

namespace mlc {

namespace {
#define GEN_PASS_REGISTRATION
#include "passes/Base/Passes.h.inc"
} // namespace

void registerPasses() { registerMLCPasses(); }

void addOptimizePasses(OpPassManager &pm, const PipelineOptions &options) {
  // Arithmetic on constants and shapes, and equal subgraphs once.
  addPreparePasses(pm);
  if (options.rewrites) {
    // Proved rules where they pay on the target.
    pm.addPass(
        createApplyRulesPass(options.getCodeTarget(), options.rewriting));
    // What the rules computed from weights; passes/Export does it for others,
    // once it has noted which operators are the model's.
    if (!options.rewriting.forOthers)
      pm.addNestedPass<func::FuncOp>(createConstantFoldPass());
  }
}

void addLayoutPasses(OpPassManager &pm, const PipelineOptions &options) {
  // Channels in blocks of a vector's size, so that convolutions run on whole
  // vectors; weights rearranged to match.
  pm.addPass(createLayoutPass(options.getCodeTarget()));
  // The rearranging happens now, not at run time.
  pm.addNestedPass<func::FuncOp>(createConstantFoldPass());
}

void addLowerPasses(OpPassManager &pm, const PipelineOptions &options) {
  // What ranks exchange lies together in memory.
  pm.addPass(createLowerCollectivesPass());
  // Everything below works on linalg, whatever the operators were.
  pm.addPass(createLowerPass());
}

void addFusePasses(OpPassManager &pm, const PipelineOptions &options) {
  // What runs as one kernel, and the program that runs the kernels.
  pm.addPass(createFusePass(options.getCodeTarget()));
  // 3x3 convolutions by fewer multiplications, with the filters transformed
  // now; whatever else the back end has.
  pm.addPass(createTransformConstantsPass(options.getCodeTarget()));
}

void registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<MlcDialect, dist::DistDialect, exec::ExecDialect>();
  registerKernelDialects(registry);
}

} // namespace mlc
