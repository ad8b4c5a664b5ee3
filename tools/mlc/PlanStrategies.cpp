//===- PlanStrategies.cpp - Written strategies as plans -------------------===//

#include "tools/mlc/PlanStrategies.h"
#include "passes/Shardings/WrittenShardings.h"
#include "runtime/plan/Nearest.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MeshFlags.h"
#include "tools/mlc/PlanBlocks.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
namespace cl = llvm::cl;

StrategyPlanner::StrategyPlanner(cl::SubCommand &sub)
    : strategy("strategy", cl::value_desc("name"),
               cl::desc("Plan by a strategy that people have written down, "
                        "such as zero-2 or megatron; help lists them (all that "
                        "apply, beside what planners find)"),
               cl::sub(sub)),
      shards("shard", cl::value_desc("name=axis,..."),
             cl::desc("With --strategy=gspmd: split the dims of this weight, "
                      "input or node over axes of --mesh, as mlc train does"),
             cl::sub(sub)) {}

std::vector<const cl::Option *> StrategyPlanner::options() const {
  return {&strategy, std::addressof(shards)};
}

void StrategyPlanner::printTable() {
  for (const StrategyRow &row : allStrategies())
    llvm::outs() << fmt::format("{:<17} {} ({})\n", row.name, row.meaning,
                                row.paper);
}

llvm::Error StrategyPlanner::check() const {
  const StrategyRow *row = findStrategy(strategy.getValue());
  if (isGiven() && !row)
    return fail(Exit::Usage, "--strategy=" + strategy +
                                 ": there is no such strategy; there are " +
                                 strategyNames());
  const bool isGspmd = row && row->strategy == WrittenStrategy::Gspmd;
  if (!isGspmd && !shards.empty())
    return fail(Exit::Usage, "--shard is of --strategy=gspmd");
  if (isGspmd && shards.empty())
    return fail(Exit::Usage, "--strategy=gspmd completes what --shard says; "
                             "give --mesh and --shard");
  return llvm::Error::success();
}

namespace {

/// Plans that are tried in this order; `isFirst`: until one fits.
struct Tries {
  std::vector<runtime::Plan> plans;
  bool isFirst = true;
};

class StrategyMaker {
public:
  StrategyMaker(const PipelineRequest &request,
                const simulator::Cluster &cluster, ShardingPlanner &shardings,
                llvm::ArrayRef<std::string> shards)
      : request(request), cluster(cluster), shardings(shardings),
        shards(shards) {}

  /// Reads the model.
  llvm::Error read();
  /// The plans of a strategy; an error says why there are none.
  llvm::Expected<std::vector<Tries>> make(WrittenStrategy strategy);
  int64_t countSamples() const { return samples; }

private:
  /// Why there is no plan of the strategy.
  llvm::Error refuse(const llvm::Twine &why) const {
    return fail(Exit::Usage, llvm::Twine("--strategy=") + name + ": " + why);
  }
  runtime::Plan planOf(int64_t ranks, int64_t microBatches) const;
  Tries ofEachCount(const runtime::Plan &plan) const;
  llvm::Expected<std::vector<Tries>> makeDataParallel(int zero,
                                                      bool hasServers);
  llvm::Expected<std::vector<Tries>>
  makeSharded(llvm::StringRef what,
              const std::map<int64_t, std::vector<runtime::TensorSharding>>
                  &ofSizes) const;
  llvm::Expected<std::vector<Tries>> makeGspmd() const;
  llvm::Expected<std::vector<Tries>> makeOptCnn();
  llvm::Expected<std::vector<Tries>> makeStages(WrittenStrategy strategy);

  const PipelineRequest &request;
  const simulator::Cluster &cluster;
  ShardingPlanner &shardings;
  llvm::ArrayRef<std::string> shards;
  const char *name = ""; ///< of the strategy
  int64_t samples = 0;
  std::vector<int64_t> counts; ///< of micro-batches
  /// By the size of the axis.
  std::map<int64_t, std::vector<runtime::TensorSharding>> pairs, columns;
  std::vector<std::string> layerEnds;
};

} // namespace

llvm::Error StrategyMaker::read() {
  runtime::Plan plan;
  plan.training.emplace();
  auto look = [&](mlir::ModuleOp module, runtime::TrainingPlan &) {
    auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      return;
    layerEnds = dist::listLayerEnds(main);
    for (int64_t size = 2; size <= request.ranks; ++size) {
      if (request.ranks % size)
        continue;
      const auto axis =
          dist::AxisAttr::get(module.getContext(), kTensorAxis,
                              IntExpr::constant(module.getContext(), size));
      pairs[size] = dist::splitInPairs(main, axis);
      if (size == request.ranks)
        columns[size] = dist::splitSamplesThenColumns(main, axis);
    }
  };
  auto model =
      readTrainingModel(request.model, request.training, &request.optimizer,
                        request.samples, {}, &plan, look);
  if (!model)
    return model.takeError();
  const int64_t batch = model->training.batch;
  samples = request.samples ? request.samples : batch;
  if (!samples)
    return fail(Exit::Usage, request.model.model +
                                 ": the batch is open; give --samples, those "
                                 "of a step");
  if (samples % batch)
    return fail(Exit::Usage,
                fmt::format("{}: has batches of {} samples, which --samples={} "
                            "is no multiple of",
                            request.model.model, batch, samples));
  const bool isFixed = !request.samples || batch != request.samples;
  counts = isFixed ? std::vector<int64_t>{samples / batch}
           : request.microBatches.empty()
               ? listMicroBatches(samples, request.ranks)
               : request.microBatches;
  for (int64_t count : counts)
    if (samples % count)
      return fail(Exit::Usage,
                  fmt::format("--samples={} is no multiple of {} micro-batches",
                              samples, count));
  return llvm::Error::success();
}

runtime::Plan StrategyMaker::planOf(int64_t ranks, int64_t microBatches) const {
  runtime::Plan plan;
  plan.training.emplace();
  plan.training->ranks = ranks;
  plan.training->accumulate = microBatches;
  return plan;
}

/// The plan with each number of micro-batches that leaves a rank a sample.
Tries StrategyMaker::ofEachCount(const runtime::Plan &plan) const {
  Tries row;
  for (int64_t count : counts)
    if (samples / count >= plan.training->ranks) {
      row.plans.push_back(plan);
      row.plans.back().training->accumulate = count;
    }
  return row;
}

llvm::Expected<std::vector<Tries>>
StrategyMaker::makeDataParallel(int zero, bool hasServers) {
  if (request.ranks < 2)
    return refuse("ranks share samples, and there is one rank");
  runtime::Plan plan = planOf(request.ranks, 1);
  plan.training->zero = runtime::ZeroStage(zero);
  if (hasServers)
    plan.algorithm = "colocated";
  Tries row = ofEachCount(plan);
  if (row.plans.empty())
    return refuse(
        fmt::format("each rank has a sample at least, and there are {} "
                    "for {} ranks",
                    samples, request.ranks));
  return std::vector<Tries>{std::move(row)};
}

/// Weights and tensors split over an axis of each of these sizes, samples over
/// the rest.
llvm::Expected<std::vector<Tries>> StrategyMaker::makeSharded(
    llvm::StringRef what,
    const std::map<int64_t, std::vector<runtime::TensorSharding>> &ofSizes)
    const {
  std::vector<Tries> rows;
  for (const auto &[size, split] : ofSizes) {
    if (split.empty())
      continue;
    runtime::Plan plan = planOf(request.ranks / size, 1);
    plan.training->axes.push_back({kTensorAxis, uint32_t(size)});
    plan.shardings = split;
    rows.push_back(ofEachCount(plan));
  }
  if (rows.empty())
    return refuse(
        "the model has no " + what +
        fmt::format(" that {} ranks can split evenly", request.ranks));
  return rows;
}

llvm::Expected<std::vector<Tries>> StrategyMaker::makeGspmd() const {
  const std::string &mesh = shardings.meshText();
  runtime::Plan plan = planOf(1, 1);
  if (llvm::Error error = addAxes(mesh, plan))
    return std::move(error);
  for (const std::string &shard : shards)
    if (llvm::Error error = addSharding(shard, mesh, plan))
      return std::move(error);
  if (auto status = plan.setTrainingMesh(); !status.ok())
    return statusFailure(status);
  plan.mesh.clear();
  if (plan.training->countRanks() != request.ranks)
    return fail(Exit::Usage,
                fmt::format("--mesh={} has {} ranks, and there are {}; give "
                            "--ranks={}",
                            mesh, plan.training->countRanks(), request.ranks,
                            plan.training->countRanks()));
  return std::vector<Tries>{ofEachCount(plan)};
}

llvm::Expected<std::vector<Tries>> StrategyMaker::makeOptCnn() {
  auto plans = shardings.plan(
      cluster, {request.cluster, request.ranks, samples, "", false,
                fmt::format("data=1,{}={}", kTensorAxis, request.ranks)});
  if (!plans)
    return plans.takeError();
  std::vector<Tries> rows;
  for (const runtime::Plan &plan : *plans)
    rows.push_back(ofEachCount(plan));
  return rows;
}

llvm::Expected<std::vector<Tries>>
StrategyMaker::makeStages(WrittenStrategy strategy) {
  const auto ranks = size_t(request.ranks), layers = layerEnds.size() + 1;
  if (ranks < 2 || layers < ranks)
    return refuse(fmt::format("a rank has a layer at least, and the model has "
                              "{} layers for {} ranks",
                              layers, ranks));
  std::vector<size_t> ends = divideEqually(layers, ranks);
  if (strategy == WrittenStrategy::BlockPartition) {
    auto times =
        readStageTimes(request, cluster, samples / counts.front(), layerEnds);
    if (!times)
      return times.takeError();
    ends = partitionBlocks({times->begin(), times->end()}, ranks);
    for (size_t i = 0; i < ends.size(); ++i)
      if (ends[i] == (i ? ends[i - 1] : 0))
        return refuse("a stage has no layer; give fewer ranks");
  }
  runtime::Plan plan = planOf(1, 1);
  runtime::StagePlan &stages = plan.training->stages;
  stages.count = stages.ranks = request.ranks;
  stages.schedule = "gpipe";
  for (size_t end : llvm::ArrayRef(ends).drop_back())
    stages.ends.push_back(layerEnds[end - 1]);
  Tries row = ofEachCount(plan);
  row.isFirst = strategy == WrittenStrategy::LayerPerDevice;
  return std::vector<Tries>{std::move(row)};
}

llvm::Expected<std::vector<Tries>>
StrategyMaker::make(WrittenStrategy strategy) {
  name = allStrategies()[size_t(strategy)].name;
  switch (strategy) {
  case WrittenStrategy::DataParallel:
    return makeDataParallel(0, false);
  case WrittenStrategy::ParameterServer:
    return makeDataParallel(0, true);
  case WrittenStrategy::Zero1:
    return makeDataParallel(1, false);
  case WrittenStrategy::Zero2:
    return makeDataParallel(2, false);
  case WrittenStrategy::Zero3:
    return makeDataParallel(3, false);
  case WrittenStrategy::OneWeirdTrick:
    return makeSharded("convolutions and dense layers", columns);
  case WrittenStrategy::Megatron:
    return makeSharded("products with weights", pairs);
  case WrittenStrategy::Gspmd:
    return makeGspmd();
  case WrittenStrategy::OptCnn:
    return makeOptCnn();
  case WrittenStrategy::LayerPerDevice:
  case WrittenStrategy::EqualStages:
  case WrittenStrategy::BlockPartition:
    return makeStages(strategy);
  }
  llvm_unreachable("no such strategy");
}

/// Simulates the plans of a row; what cannot be carried out is left out, and
/// `wrong` says why.
static void addRow(const PipelineRequest &request, int64_t samples,
                   const StrategyRow &strategy, const Tries &row,
                   std::vector<PlannedStep> &steps, llvm::Error &wrong) {
  for (const runtime::Plan &plan : row.plans) {
    PlannedStep step;
    step.plan = plan;
    step.batch = samples / plan.training->accumulate;
    step.strategy = strategy.name;
    llvm::Error error = llvm::Error::success();
    if (auto status = plan.check(); !status.ok())
      error = llvm::joinErrors(std::move(error), statusFailure(status));
    else
      error =
          llvm::joinErrors(std::move(error),
                           simulateStep(request, step, ArenaSource::Operators));
    if (error) {
      llvm::consumeError(std::move(wrong));
      wrong = std::move(error);
      continue;
    }
    steps.push_back(step);
    if (row.isFirst && step.fits)
      return;
  }
}

llvm::Error StrategyPlanner::add(const PipelineRequest &request,
                                 const simulator::Cluster &cluster,
                                 ShardingPlanner &shardings,
                                 PipelinePlans &found) const {
  takeTarget(cluster, request.model);
  StrategyMaker maker(request, cluster, shardings, {shards});
  if (llvm::Error error = maker.read())
    return error;
  for (const StrategyRow &row : allStrategies()) {
    // What the other planner finds of its own is not found again.
    const bool isFound = row.strategy == WrittenStrategy::Gspmd ||
                         row.strategy == WrittenStrategy::OptCnn;
    if (isGiven() ? strategy != row.name : isFound)
      continue;
    llvm::Error wrong = llvm::Error::success();
    std::vector<PlannedStep> steps;
    if (auto rows = maker.make(row.strategy)) {
      for (const Tries &one : *rows)
        addRow(request, maker.countSamples(), row, one, steps, wrong);
    } else {
      llvm::consumeError(std::move(wrong));
      wrong = rows.takeError();
    }
    if (steps.empty() && isGiven())
      return wrong;
    llvm::consumeError(std::move(wrong));
    llvm::append_range(found.steps, steps);
  }
  llvm::stable_sort(found.steps, isBetter);
  return llvm::Error::success();
}
