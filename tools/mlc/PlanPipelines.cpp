//===- PlanPipelines.cpp - Plans that run a model in stages ---------------===//

#include "tools/mlc/PlanPipelines.h"
#include "passes/Stages/Stages.h"
#include "planner/pipelines/PipelinePlanner.h"
#include "planner/strategies/Strategies.h"
#include "runtime/schedule/Generate.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/StageCosts.h"
#include "tools/mlc/StageMemory.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;
namespace schedule = mlc::runtime::schedule;

/// So many of the best pipelines are simulated as they are.
static constexpr size_t simulatedPlans = 3;

/// Where to cut is searched for where that may give the best plan: it rarely
/// gains as much.
static Time worthOf(Time bestSpan) {
  return bestSpan == kLongestTime ? bestSpan : bestSpan / 4 * 5;
}

std::string PlannedStep::schedule() const {
  const runtime::StagePlan &stages = plan.training->stages;
  if (stages.ranks > 1)
    return stages.schedule;
  const auto count = plan.training->countRanks();
  if (!plan.training->axes.empty())
    return "shardings";
  return count > 1 ? "data parallel" : "one rank";
}

llvm::Error mlc::cli::simulateStep(const PipelineRequest &request,
                                   PlannedStep &step, ArenaSource arenas) {
  auto done = cli::simulate({request.model, request.training, request.optimizer,
                             step.batch, step.plan, request.cluster, arenas});
  if (!done)
    return done.takeError();
  step.plan = done->plan;
  step.span = done->timeline.span;
  step.idle = done->timeline.idle().value();
  step.sent = *llvm::max_element(done->sent);
  step.memory = 0;
  for (const RankMemory &memory : done->memory)
    step.memory = std::max(step.memory, memory.parts().total());
  step.fits = !llvm::errorToBool(checkCapacity(*done));
  step.isSimulated = true;
  return llvm::Error::success();
}

namespace {

/// A step of the model as blocks, for micro-batches of one size.
struct Blocks {
  std::vector<StepCosts> costs; ///< for each kind of device
  StepMemory memory;
  std::vector<size_t> kinds; ///< of the cluster's ranks
  /// The nodes that all blocks but the last end with.
  std::vector<std::string> ends;
  /// The batch that the model has itself; 0: it is open.
  int64_t batch = 0;

  /// The slowest kind of ranks `first`, `first` + `stride`, ...
  size_t slowest(int64_t first, int64_t stride) const;
};

class PipelineSearch {
public:
  PipelineSearch(const PipelineRequest &request, const Cluster &cluster)
      : request(request), network(cluster) {}

  llvm::Expected<PipelinePlans> run();

private:
  llvm::Error findSizes();
  llvm::Expected<const Blocks *> blocksOf(int64_t batch);
  llvm::Error addPipelines(int64_t copies, int64_t microBatches);
  void addPipeline(const Blocks &blocks, const PipelineProblem &problem,
                   const PipelineChoice &choice);
  llvm::Error addDataParallel();
  llvm::Error addZero();
  llvm::Error simulateBest();
  std::vector<std::pair<std::string, int64_t>> schedules() const;
  runtime::Plan planOf(int64_t copies, int64_t microBatches) const;

  const PipelineRequest &request;
  const Network network;
  std::map<int64_t, Blocks> known;
  std::vector<int64_t> counts; ///< of micro-batches
  int64_t samples = 0;
  Time bestSpan = kLongestTime; ///< of what fits
  PipelinePlans found;
};

} // namespace

size_t Blocks::slowest(int64_t first, int64_t stride) const {
  size_t found = kinds[first];
  for (size_t rank = first; rank < kinds.size(); rank += stride)
    if (costs[kinds[rank]].computing() > costs[found].computing())
      found = kinds[rank];
  return found;
}

/// Reads the step as blocks of one rank each; the gradients of inputs and of
/// weights are apart, as some schedules want them. `batch` 0 leaves an open one
/// open, and gives no costs then. Blocks end with the nodes `ends`, if given.
static llvm::Expected<Blocks>
readBlocks(const PipelineRequest &request, const Network &network,
           int64_t batch, llvm::ArrayRef<std::string> ends = {}) {
  runtime::Plan plan;
  plan.training.emplace();
  // Two batches, so that gradients are added up.
  plan.training->accumulate = 2;
  Blocks blocks;
  auto choose = [&](mlir::ModuleOp module, runtime::TrainingPlan &own) {
    blocks.ends = ends.empty() ? listStageEnds(module, size_t(request.blocks))
                               : ends.vec();
    if (blocks.ends.empty())
      return;
    own.stages.ends = blocks.ends;
    own.stages.count = int64_t(blocks.ends.size()) + 1;
    own.stages.ranks = own.stages.count;
    own.stages.schedule = "zero-bubble";
  };
  auto read = readTrainingModel(
      request.model, request.training, &request.optimizer, batch,
      {2, false, false, /*isApart=*/true}, &plan, choose);
  if (!read)
    return read.takeError();
  blocks.batch = read->training.batch;
  // A model of one node cannot be cut.
  if (blocks.batch == 0 || blocks.ends.empty())
    return blocks;
  mlir::ModuleOp module = read->compilation->getModule();
  const Cluster &cluster = network.getCluster();
  auto devices = DeviceCosts::make(*read->compilation, request.model, cluster);
  if (!devices)
    return devices.takeError();
  const EntryTimes entries(*devices, network, {}, "");
  const auto once = withoutRepeats(module);
  // The kinds of devices that are used, in the order of ranks.
  std::vector<size_t> used;
  for (int64_t rank = 0; rank < request.ranks; ++rank) {
    auto known = llvm::find(used, devices->kindOf(rank));
    blocks.kinds.push_back(known - used.begin());
    if (known != used.end())
      continue;
    used.push_back(devices->kindOf(rank));
    auto costs = readStepCosts(
        *once, entries,
        std::vector<std::vector<int64_t>>(blocks.ends.size() + 1, {rank}));
    if (!costs)
      return costs.takeError();
    blocks.costs.push_back(std::move(*costs));
  }
  blocks.memory = readStepMemory(module, devices->of(0));
  return blocks;
}

llvm::Expected<std::vector<Time>>
mlc::cli::readStageTimes(const PipelineRequest &request, const Cluster &cluster,
                         int64_t batch, llvm::ArrayRef<std::string> ends) {
  auto blocks = readBlocks(request, Network(cluster), batch, ends);
  if (!blocks)
    return blocks.takeError();
  std::vector<Time> times;
  for (const StageTimes &stage : blocks->costs.front().times)
    times.push_back(stage.forward + stage.input + stage.weight);
  return times;
}

/// The samples of a step and the numbers of micro-batches, of which a fixed
/// batch of the model leaves one.
llvm::Error PipelineSearch::findSizes() {
  auto first = readBlocks(request, network, 0);
  if (!first)
    return first.takeError();
  const int64_t fixed = first->batch;
  samples = request.samples ? request.samples : fixed;
  if (!samples)
    return fail(Exit::Usage, request.model.model +
                                 ": the batch is open; give --samples, those "
                                 "of a step");
  if (fixed && samples % fixed)
    return fail(Exit::Usage,
                fmt::format("{}: has batches of {} samples, which --samples={} "
                            "is no multiple of",
                            request.model.model, fixed, samples));
  if (fixed) {
    counts = {samples / fixed};
    return llvm::Error::success();
  }
  counts = request.microBatches.empty()
               ? listMicroBatches(samples, request.ranks)
               : request.microBatches;
  for (int64_t count : counts)
    if (samples % count)
      return fail(Exit::Usage,
                  fmt::format("--samples={} is no multiple of {} micro-batches",
                              samples, count));
  return llvm::Error::success();
}

llvm::Expected<const Blocks *> PipelineSearch::blocksOf(int64_t batch) {
  auto it = known.find(batch);
  if (it != known.end())
    return &it->second;
  auto blocks = readBlocks(request, network, batch);
  if (!blocks)
    return blocks.takeError();
  found.blocks = blocks->ends.size() + 1;
  return &known.emplace(batch, std::move(*blocks)).first->second;
}

/// The schedules, with stages of a rank where there are several numbers.
std::vector<std::pair<std::string, int64_t>> PipelineSearch::schedules() const {
  std::vector<std::pair<std::string, int64_t>> all;
  for (const schedule::ScheduleRow &row : schedule::allSchedules()) {
    const bool isWanted = llvm::is_contained(request.schedules, row.name);
    if (request.schedules.empty()
            ? !row.isSynchronous || row.hasSlices ||
                  llvm::StringRef(row.name) == "data-parallel"
            : !isWanted)
      continue;
    if (!row.hasChunks)
      all.push_back({row.name, 0});
    for (int64_t chunks : {2, 4})
      if (row.hasChunks)
        all.push_back({row.name, chunks});
  }
  return all;
}

runtime::Plan PipelineSearch::planOf(int64_t copies,
                                     int64_t microBatches) const {
  runtime::Plan plan;
  plan.training.emplace();
  plan.training->ranks = copies;
  plan.training->accumulate = microBatches;
  return plan;
}

void PipelineSearch::addPipeline(const Blocks &blocks,
                                 const PipelineProblem &problem,
                                 const PipelineChoice &choice) {
  PlannedStep step;
  step.plan = planOf(problem.copies, problem.microBatches);
  runtime::StagePlan &stages = step.plan.training->stages;
  stages.count = int64_t(choice.ends.size());
  stages.ranks = int64_t(problem.ranks.size());
  stages.schedule = choice.schedule;
  if (!choice.replicas.empty())
    stages.places = runtime::StagePlan::placesOf(choice.replicas);
  for (size_t end : llvm::ArrayRef(choice.ends).drop_back())
    stages.ends.push_back(blocks.ends[end - 1]);
  // What plans refuse, such as versions beside copies.
  if (!step.plan.check().ok())
    return;
  step.batch = samples / problem.microBatches;
  step.span = choice.span;
  step.idle = choice.idle;
  step.memory = choice.memory;
  step.sent = choice.sent;
  step.fits = choice.excess == 0;
  if (step.fits)
    bestSpan = std::min(bestSpan, step.span);
  found.steps.push_back(std::move(step));
}

llvm::Error PipelineSearch::addPipelines(int64_t copies, int64_t microBatches) {
  const int64_t batch = samples / microBatches, ranks = request.ranks / copies;
  if (batch % copies)
    return llvm::Error::success();
  auto blocks = blocksOf(batch / copies);
  if (!blocks)
    return blocks.takeError();
  if ((*blocks)->ends.empty())
    return llvm::Error::success();
  PipelineProblem problem;
  problem.blocks = (*blocks)->costs;
  problem.memory = (*blocks)->memory;
  problem.network = &network;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    problem.ranks.push_back(rank);
    problem.kinds.push_back((*blocks)->slowest(rank, ranks));
  }
  problem.copies = copies;
  problem.stride = ranks;
  problem.microBatches = microBatches;
  if (copies == 1) {
    const Time own = (*blocks)->costs.front().computing() * microBatches;
    found.onOneRank = found.onOneRank ? std::min(found.onOneRank, own) : own;
  }
  for (const auto &[name, chunks] : schedules()) {
    PipelinePlanner planner(problem, request.budget),
        other(problem, request.budget);
    PipelineChoice choice;
    // Some schedules need other numbers of ranks, stages or micro-batches.
    if (planner.plan(name, chunks, worthOf(bestSpan), choice).ok())
      addPipeline(**blocks, problem, choice);
    for (int64_t stages = 0; stages < ranks; ++stages)
      if (stages != 1 && (stages == 0 || ranks % stages == 0) &&
          other.planReplicas(name, stages, worthOf(bestSpan), choice).ok())
        addPipeline(**blocks, problem, choice);
    found.timelines += planner.countTimelines() + other.countTimelines();
    const Time bound = planner.bound();
    found.bound = found.bound ? std::min(found.bound, bound) : bound;
  }
  return llvm::Error::success();
}

bool mlc::cli::isBetter(const PlannedStep &a, const PlannedStep &b) {
  return std::pair(!a.fits, a.span) < std::pair(!b.fits, b.span);
}

/// All ranks share the batch, in as few micro-batches, and with as little of
/// ZeRO, as memory allows.
llvm::Error PipelineSearch::addDataParallel() {
  for (int zero = 0; zero <= (request.ranks > 1 ? 3 : 0); ++zero)
    for (int64_t count : counts) {
      if (samples / count < request.ranks)
        continue;
      PlannedStep step;
      step.plan = planOf(request.ranks, count);
      step.plan.training->zero = runtime::ZeroStage(zero);
      step.batch = samples / count;
      if (llvm::Error error =
              simulateStep(request, step, ArenaSource::Operators))
        return error;
      found.steps.push_back(step);
      if (step.fits)
        return llvm::Error::success();
    }
  return llvm::Error::success();
}

/// Where no pipeline fits, copies of the fastest share their states too.
llvm::Error PipelineSearch::addZero() {
  llvm::stable_sort(found.steps, isBetter);
  if (found.steps.empty() || found.steps.front().fits)
    return llvm::Error::success();
  std::vector<PlannedStep> shared;
  for (const PlannedStep &step : found.steps)
    if (step.copies() > 1 && step.plan.training->stages.ranks > 1 &&
        shared.size() < simulatedPlans)
      shared.push_back(step);
  for (PlannedStep &step : shared)
    for (int zero = 1; zero <= 3; ++zero) {
      step.plan.training->zero = runtime::ZeroStage(zero);
      if (!step.plan.check().ok())
        continue;
      if (llvm::Error error =
              simulateStep(request, step, ArenaSource::Operators))
        return error;
      if (step.fits || zero == 3)
        found.steps.push_back(step);
      if (step.fits)
        break;
    }
  return llvm::Error::success();
}

llvm::Error PipelineSearch::simulateBest() {
  llvm::stable_sort(found.steps, isBetter);
  for (size_t i = 0; i < std::min(simulatedPlans, found.steps.size()); ++i)
    if (!found.steps[i].isSimulated)
      if (llvm::Error error =
              simulateStep(request, found.steps[i], ArenaSource::Operators))
        return error;
  llvm::stable_sort(found.steps, isBetter);
  // Estimates of memory may be wrong where it is tight.
  for (size_t i = 0; i < found.steps.size() && found.steps[i].fits; ++i) {
    if (llvm::Error error =
            simulateStep(request, found.steps[i], ArenaSource::Kernels))
      return error;
    if (found.steps[i].fits)
      break;
  }
  llvm::stable_sort(found.steps, isBetter);
  return llvm::Error::success();
}

llvm::Expected<PipelinePlans> PipelineSearch::run() {
  if (llvm::Error error = findSizes())
    return std::move(error);
  for (int64_t copies = request.ranks / 2; copies > 0; --copies)
    for (int64_t count : counts)
      if (request.ranks % copies == 0)
        if (llvm::Error error = addPipelines(copies, count))
          return std::move(error);
  if (llvm::Error error = addDataParallel())
    return std::move(error);
  if (llvm::Error error = addZero())
    return std::move(error);
  if (found.steps.empty())
    return fail(Exit::Usage,
                fmt::format("{}: no schedule runs {} samples on {} ranks; give "
                            "other numbers of ranks, samples or micro-batches",
                            request.model.model, samples, request.ranks));
  if (llvm::Error error = simulateBest())
    return std::move(error);
  return std::move(found);
}

llvm::Expected<PipelinePlans>
mlc::cli::planPipelines(const PipelineRequest &request,
                        const Cluster &cluster) {
  // The devices price operators, unless another target is given.
  const std::string &target = cluster.deviceOf(0).target;
  if (request.model.target.getNumOccurrences() == 0 && !target.empty())
    request.model.target = target;
  return PipelineSearch(request, cluster).run();
}

llvm::Error mlc::cli::addPlans(const PipelineRequest &request,
                               std::vector<runtime::Plan> plans,
                               PipelinePlans &found) {
  int64_t samples = request.samples;
  if (!samples && !found.steps.empty())
    samples = found.steps.front().batch *
              found.steps.front().plan.training->accumulate;
  for (runtime::Plan &plan : plans) {
    PlannedStep step;
    step.plan = std::move(plan);
    step.batch = samples / step.plan.training->accumulate;
    if (llvm::Error error = simulateStep(request, step, ArenaSource::Operators))
      return error;
    found.steps.push_back(std::move(step));
  }
  llvm::stable_sort(found.steps, isBetter);
  return llvm::Error::success();
}
