//===- Pipeline.cpp - Every pass, in order --------------------------------===//
//
// The whole compiler as one list. Each pass has a line of why; the phases that
// they make up stand in Phases.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "dialects/Dist/Dist.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Entries.h"
#include "passes/Distribute/Buckets.h"
#include "passes/Distribute/DataParallel.h"
#include "passes/Distribute/Shard.h"
#include "passes/Fuse/Fuse.h"
#include "passes/Fuse/TransformConstants.h"
#include "passes/Layout/Layout.h"
#include "passes/Lower/Lower.h"
#include "passes/Optimize/ApplyRules.h"
#include "passes/Optimize/ConstantFold.h"
#include "passes/Optimize/Prepare.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc {

namespace {
#define GEN_PASS_REGISTRATION
#include "passes/Base/Passes.h.inc"
} // namespace

void registerPasses() { registerMLCPasses(); }

void addDifferentiatePasses(OpPassManager &pm,
                            const DifferentiateOptions &options) {
  if (options.optimizer)
    // What has no gradient is not trained, and is folded like any constant.
    pm.addPass(createUnreadParametersPass({options.loss.output}));
  if (options.statisticGroups > 0)
    // While a mean over the batch is still an operator of the model's.
    pm.addPass(createLocalStatisticsPass({options.statisticGroups}));
  if (options.optimizer)
    // Loss, gradients and update, as entries over states.
    pm.addPass(createTrainingStepPass(options));
  else
    // The loss and the gradients of all parameters, of the model as it is.
    pm.addPass(createGradientsPass(options.loss));
}

static void addPartitionPass(OpPassManager &pm, StringRef algorithm,
                             bool regather) {
  PartitionPassOptions options;
  options.algorithm = algorithm;
  options.regather = regather;
  pm.addPass(createPartitionPass(std::move(options)));
}

/// What is one rank's of training with the batch split over ranks.
static void addDataParallelPasses(OpPassManager &pm,
                                  const runtime::TrainingPlan &plan,
                                  StringRef algorithm) {
  // A mesh of one axis; the batch and, by the stage of ZeRO, states are split.
  pm.addPass(createDistributeTrainingPass(plan));
  // A rank's entries, with what it exchanges with others.
  addPartitionPass(pm, plan.hasServer ? "" : algorithm,
                   plan.zero == runtime::ZeroStage::Weights);
  if (plan.hasServer)
    // Which workers of a server do not.
    pm.addPass(createCheckWorkersPass());
  else
    // Gradients travel several at a time, as soon as they are there.
    pm.addPass(createBucketPass(plan.buckets));
}

void addDistributePasses(OpPassManager &pm, const runtime::Plan &plan) {
  if (plan.training)
    addDataParallelPasses(pm, *plan.training, plan.algorithm);
  if (plan.mesh.empty())
    return;
  // A mesh, and shardings of what the model is given and gives.
  pm.addPass(createShardPass(plan));
  // A rank's program, with what it exchanges with others.
  addPartitionPass(pm, plan.algorithm, /*regather=*/false);
}

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
