//===- Simulate.cpp - From a model and a plan to a simulated step ---------===//

#include "tools/mlc/Simulate.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/cluster/Network.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/StageCosts.h"
#include "tools/mlc/StageMemory.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
namespace schedule = mlc::runtime::schedule;

/// Gives the table's actions times.
static llvm::Error addTimes(const StageCosts &costs, Simulation &result) {
  Network network(result.cluster);
  TimelineOptions options;
  options.stages = costs.times();
  options.reads = costs.reads();
  options.isEager = llvm::all_of(result.cluster.levels, [](const Level &level) {
    return level.throttled;
  });
  options.bytes = [&](const schedule::Action &send) {
    return costs.bytes(send);
  };
  options.transfer = [&](int32_t, int64_t bytes, int32_t from, int32_t to) {
    return network.transfer(from, to, bytes);
  };
  // The first rank takes the sums of the others, and sends the total back.
  options.collective = [&](const schedule::Action &action) {
    Time sum = 0;
    const std::vector<int> &having = costs.ranksOf(action.stage);
    if (action.kind == schedule::ActionKind::ReduceGradients)
      for (int rank : llvm::drop_begin(having))
        sum += 2 * network.transfer(rank, having.front(),
                                    costs.sumBytes(action.stage));
    return sum;
  };
  auto status = schedule::addTransfers(result.table, options.reads);
  if (status.ok()) {
    schedule::addUpdates(result.table);
    status = makeTimeline(result.table, options, result.timeline);
  }
  return statusFailure(status);
}

/// Lowers or compiles the entries, so that their arenas are known to the byte.
static llvm::Error findArenas(const SimulationRequest &request,
                              TrainingModel &read, Simulation &result) {
  const CodeTarget target = read.compilation->getCodeTarget();
  const bool compiles = request.arenas == ArenaSource::Code;
  if (request.arenas == ArenaSource::Operators ||
      (!compiles && !target.backend))
    return llvm::Error::success();
  // A budget changes programs after the kernels are compiled.
  if (!compiles && !request.plan.memory) {
    if (llvm::Error error = read.compilation->runTo("fuse"))
      return error;
    result.isCompiled = previewArenas(read.compilation->getModule(), target,
                                      request.threads, result.step);
    return llvm::Error::success();
  }
  read.compilation->limitMemory(request.plan.memory);
  auto built = read.compilation->build();
  if (!built)
    return built.takeError();
  result.isCompiled = true;
  return readArenas(*built, request.threads, result.step);
}

llvm::Expected<Cluster> mlc::cli::readCluster(const std::string &name,
                                              const runtime::Plan &plan) {
  Cluster machines;
  if (auto status = openCluster(name, machines); !status.ok())
    return fail(static_cast<Exit>(status.code), name + ": " + status.message);
  const int64_t needed = plan.training ? plan.training->countRanks() : 1;
  if (machines.countRanks() < needed)
    return fail(Exit::Usage,
                fmt::format("{}: has {} ranks, and the plan {}; take another "
                            "cluster, or fewer ranks",
                            name, machines.countRanks(), needed));
  return machines;
}

/// An error for plans whose steps are not simulated.
static llvm::Error checkPlan(const runtime::TrainingPlan &split) {
  if (split.stages.ranks < 2)
    return fail(Exit::Usage,
                "simulates stages on several ranks; give --stages and --ranks, "
                "or a plan");
  if (split.isSplit())
    return fail(Exit::Usage,
                "simulates each stage on one rank of a pipeline; give as many "
                "ranks as run the stages, without a split batch or weights");
  return llvm::Error::success();
}

llvm::Expected<Simulation>
mlc::cli::simulate(const SimulationRequest &request) {
  ModelOptions &model = request.model;
  const runtime::TrainingPlan &split = *request.plan.training;
  if (llvm::Error error = checkPlan(split))
    return error;
  auto machines = readCluster(request.cluster, request.plan);
  if (!machines)
    return machines.takeError();
  // The target of the devices prices operators, unless another one is given.
  const std::string &target = machines->deviceOf(0).target;
  if (model.target.getNumOccurrences() == 0 && !target.empty())
    model.target = target;
  auto read = readTrainingModel(
      model, request.training, &request.optimizer, request.batch,
      {split.accumulate, false, false, /*isApart=*/true, false, false,
       split.countUpdates() > 1},
      &request.plan);
  if (!read)
    return read.takeError();
  if (auto status =
          request.plan.origin.checkModel(model.model, read->training.model);
      !status.ok())
    return statusFailure(status);
  if (read->training.batch == 0)
    return fail(Exit::Usage, model.model + ": the batch is open; give --batch");
  Simulation result;
  result.model = model.model;
  result.cluster = std::move(*machines);
  result.plan = request.plan;
  result.plan.origin.model = {model.model, read->training.model};
  result.plan.origin.cluster = request.cluster;
  if (auto status = split.makeTable(result.table); !status.ok())
    return statusFailure(status);
  const CostModel cost = read->compilation->makeCostModel();
  StageCosts costs(read->compilation->getModule(), cost, result.table);
  result.step = readStepMemory(read->compilation->getModule(), cost);
  if (llvm::Error error = addTimes(costs, result))
    return error;
  result.stages = costs.times();
  result.sent = costs.sentBytes();
  if (llvm::Error error = findArenas(request, *read, result))
    return error;
  result.memory = findMemory(result.table, result.step);
  // Versions of weights are not counted.
  result.isCompiled &= split.countUpdates() == 1;
  const Time busiest = *llvm::max_element(result.timeline.busy);
  result.plan.origin.predicted = {toSeconds(result.timeline.span),
                                  toSeconds(busiest)};
  return result;
}
