//===- Pipeline.cpp - Every pass, in order --------------------------------===//
//
// The whole compiler as one list, with a reason for each pass; Phases.cpp has
// the phases that they form.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "dialects/Dist/Dist.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Entries.h"
#include "passes/Distribute/Buckets.h"
#include "passes/Distribute/DataParallel.h"
#include "passes/Distribute/Pin.h"
#include "passes/Distribute/Shard.h"
#include "passes/Fuse/Fuse.h"
#include "passes/Fuse/Siblings.h"
#include "passes/Fuse/TransformConstants.h"
#include "passes/Layout/Layout.h"
#include "passes/Lower/Lower.h"
#include "passes/Optimize/ApplyRules.h"
#include "passes/Optimize/ConstantFold.h"
#include "passes/Optimize/Prepare.h"
#include "passes/Stages/Stages.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc {

namespace {
#define GEN_PASS_REGISTRATION
#include "passes/Base/Passes.h.inc"
} // namespace

void registerPasses() { registerMLCPasses(); }

void addDifferentiatePasses(OpPassManager &pm,
                            const DifferentiateOptions &options,
                            const runtime::Plan &plan) {
  const runtime::StagePlan stages =
      plan.training ? plan.training->stages : runtime::StagePlan();
  if (options.optimizer)
    // Parameters without a gradient are not trained, and fold like constants.
    pm.addPass(createUnreadParametersPass({options.loss.output}));
  if (options.statisticGroups > 0)
    // Runs while a mean over the batch is still a single operator.
    pm.addPass(createLocalStatisticsPass({options.statisticGroups}));
  if (options.optimizer && !plan.shardings.empty())
    // Names of nodes are of the model, not of its gradients.
    pm.addPass(createPinPass(plan.training->mesh(), plan.shardings,
                             runtime::kDataAxis));
  if (options.optimizer && stages.count > 1)
    // Gradients belong to the stages of what they are of.
    pm.addPass(createAssignStagesPass(stages));
  if (options.optimizer && stages.slices > 1)
    // Each slice of a sequence goes through the stages by itself.
    pm.addPass(createSliceSequencePass(stages.slices));
  if (options.optimizer)
    // Adds loss, gradients and update, as entries over states.
    pm.addPass(createTrainingStepPass(options));
  else
    // Adds the loss and the gradients of all parameters, without training.
    pm.addPass(createGradientsPass(options.loss));
}

static void addPartitionPass(OpPassManager &pm, StringRef algorithm,
                             bool reshardAfterForward) {
  PartitionPassOptions options;
  options.algorithm = algorithm;
  options.reshardAfterForward = reshardAfterForward;
  pm.addPass(createPartitionPass(std::move(options)));
}

/// Turns training into one rank's program, with the batch and weights split
/// over ranks.
static void addSplitPasses(OpPassManager &pm, const runtime::Plan &whole) {
  const runtime::TrainingPlan &plan = *whole.training;
  if (plan.isStaged())
    // Partitioning hides which stages add to a gradient.
    pm.addPass(createSplitTiedSumsPass());
  // Adds a mesh; splits the batch and, by the ZeRO stage and names, states.
  pm.addPass(createDistributeTrainingPass(whole));
  // Makes a rank's entries, with the collectives. Each entry of a stage gathers
  // split weights for itself.
  addPartitionPass(pm, plan.hasServer ? "" : whole.algorithm,
                   plan.zero == runtime::ZeroStage::Weights &&
                       !plan.isStaged());
  if (plan.isStaged())
    // Makes entries of stages of those of the step.
    pm.addPass(createCutStagesPass(plan));
  if (plan.hasServer)
    // Rejects exchanges, which a server's workers do not make.
    pm.addPass(createCheckWorkersPass());
  else
    // Merges reductions of gradients into buckets, as soon as they are ready.
    pm.addPass(createBucketPass(plan.buckets));
}

void addDistributePasses(OpPassManager &pm, const runtime::Plan &plan) {
  if (plan.training && plan.training->isStaged() && !plan.training->isSplit())
    // Makes entries of stages of those of the step.
    pm.addPass(createCutStagesPass(*plan.training));
  else if (plan.training &&
           (plan.training->isStaged() || plan.training->isSplit()))
    addSplitPasses(pm, plan);
  if (plan.forward) {
    // Stages are made of the operators of the model as it is.
    pm.addPass(createAssignStagesPass(plan.forward->stages));
    pm.addPass(createCutForwardPass(*plan.forward));
    return;
  }
  if (plan.mesh.empty() || plan.training)
    return;
  // Says where tensors inside the model are wanted.
  pm.addPass(createPinPass(plan.mesh, plan.shardings, ""));
  // Adds a mesh, and shardings of the model's arguments and results.
  pm.addPass(createShardPass(plan));
  // Makes a rank's program, with the collectives.
  addPartitionPass(pm, plan.algorithm, /*reshardAfterForward=*/false);
}

void addOptimizePasses(OpPassManager &pm, const PipelineOptions &options) {
  // Folds arithmetic on constants and shapes, and merges equal subgraphs.
  addPreparePasses(pm);
  if (options.rewrites) {
    // Applies proved rules that pay on the target.
    pm.addPass(
        createApplyRulesPass(options.getCodeTarget(), options.rewriting));
    // Folds what the rules computed from weights. For other runtimes
    // passes/Export does it, after it has noted which operators are the
    // model's.
    if (!options.rewriting.forOthers)
      pm.addNestedPass<func::FuncOp>(createConstantFoldPass());
  }
}

void addLayoutPasses(OpPassManager &pm, const PipelineOptions &options) {
  // Stores channels in blocks of a vector's size, or last where that pays, so
  // that convolutions run on whole vectors, and rearranges weights to match.
  pm.addPass(createLayoutPass(options.getCodeTarget(), options.precision));
  // Rearranges weights now, not at run time.
  pm.addNestedPass<func::FuncOp>(createConstantFoldPass());
}

void addLowerPasses(OpPassManager &pm, const PipelineOptions &options) {
  // Makes the memory of collectives contiguous.
  pm.addPass(createLowerCollectivesPass());
  // Everything below works on linalg only.
  pm.addPass(createLowerPass());
}

void addFusePasses(OpPassManager &pm, const PipelineOptions &options) {
  // Forms kernels, and the program that runs them.
  pm.addPass(createFusePass(options.getCodeTarget()));
  // Uses faster algorithms of the back end with constants transformed now, such
  // as Winograd's for 3x3 convolutions.
  pm.addPass(
      createTransformConstantsPass(options.getCodeTarget(), options.precision));
  pm.addPass(
      createJoinSiblingsPass(options.getCodeTarget(), options.precision));
}

void registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<MlcDialect, dist::DistDialect, exec::ExecDialect>();
  registerKernelDialects(registry);
}

} // namespace mlc
