//===- StepOperators.cpp - The operators of a model's step ----------------===//

#include "tools/mlc/StepOperators.h"
#include "codegen/Backends.h"
#include "dialects/Module/States.h"
#include "passes/Optimize/ApplyRules.h"
#include "passes/Shardings/ModelOperators.h"
#include "passes/Shardings/ModelShardings.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"

using namespace mlc;
using namespace mlc::cli;

/// A rank of the cluster for each kind of device.
static std::vector<int64_t> numberKinds(const DeviceCosts &costs, int64_t ranks,
                                        std::vector<int32_t> &kinds) {
  std::vector<int64_t> first;
  std::vector<size_t> known;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto it = llvm::find(known, costs.kindOf(rank));
    kinds.push_back(int32_t(it - known.begin()));
    if (it != known.end())
      continue;
    known.push_back(costs.kindOf(rank));
    first.push_back(rank);
  }
  return first;
}

llvm::Expected<StepOperators> mlc::cli::readStepOperators(
    const ModelOptions &model, const TrainingFlags &training,
    const OptimizerFlags &optimizer, int64_t batch,
    const simulator::Cluster &cluster, int32_t devices) {
  auto target = parseTargetOption(model.target);
  if (!target)
    return target.takeError();
  const CostModel cost =
      makeCostModel({*target, findBackend(*target)}, RewriteOptions());
  const dist::PartPrices parts{
      [&](mlir::Operation *op) { return cost.seconds(op); }, devices};
  StepOperators step;
  std::string wrong;
  // One rank that has all; the graph is marked before it is differentiated.
  runtime::Plan alone;
  alone.training.emplace();
  auto mark = [&](mlir::ModuleOp graph, runtime::TrainingPlan &) {
    if (mlir::failed(dist::groupOperators(graph, step.graph, wrong, &parts)) &&
        wrong.empty())
      wrong = "cannot be planned";
  };
  auto read =
      readTrainingModel(model, training, &optimizer, batch, {}, &alone, mark);
  if (!wrong.empty()) {
    if (!read)
      llvm::consumeError(read.takeError());
    return fail(Exit::Unsupported, model.model + ": " + wrong);
  }
  if (!read)
    return read.takeError();
  step.hash = read->training.model;
  mlir::ModuleOp module = read->compilation->getModule();
  auto costs = DeviceCosts::make(*read->compilation, model, cluster);
  if (!costs)
    return costs.takeError();
  const std::vector<int64_t> ranks = numberKinds(*costs, devices, step.kinds);
  dist::OperatorPrices prices;
  prices.kinds = ranks.size();
  prices.seconds = [&](mlir::Operation *op, size_t kind) {
    return costs->of(ranks[kind]).seconds(op);
  };
  prices.ownerOf = [&](llvm::StringRef state) {
    return getStateUse(module, state).owner;
  };
  dist::addTimes(dist::stepOf(module), prices, step.graph);
  if (auto status = step.graph.check(); !status.ok())
    return statusFailure(status);
  return step;
}
