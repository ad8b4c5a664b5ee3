//===- PipelinePlanner.cpp - Stages and a schedule for a step -------------===//

#include "planner/pipelines/PipelinePlanner.h"
#include "planner/pipelines/Rows.h"
#include "planner/stages/StagePlanner.h"
#include "runtime/schedule/Generate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

using namespace mlc::simulator;
using mlc::runtime::Status;
namespace schedule = mlc::runtime::schedule;
using schedule::ActionKind;

namespace mlc::planner {

static bool isBetter(const PipelineChoice &a, const PipelineChoice &b) {
  return std::pair(a.excess, a.span) < std::pair(b.excess, b.span);
}

struct PipelinePlanner::Search {
  schedule::Table table; ///< without transfers
  bool splitsBackward = false;
  std::vector<size_t> kinds; ///< of the slowest device that has a stage

  Status make(const PipelineProblem &problem,
              const schedule::ScheduleOptions &options);
};

Status PipelinePlanner::Search::make(const PipelineProblem &problem,
                                     const schedule::ScheduleOptions &options) {
  if (Status status = schedule::generate(options, table); !status.ok())
    return status;
  for (const auto &actions : table.ranks)
    for (const schedule::Action &action : actions)
      splitsBackward |= action.kind == ActionKind::WeightGradient;
  const StepOnRanks step(problem.blocks.front(), table);
  for (int64_t stage = 0; stage < table.countStages(); ++stage) {
    size_t slowest = problem.kinds[size_t(step.ranksOf(stage).front())];
    for (int rank : step.ranksOf(stage))
      if (const size_t kind = problem.kinds[size_t(rank)];
          problem.blocks[kind].computing() >
          problem.blocks[slowest].computing())
        slowest = kind;
    kinds.push_back(slowest);
  }
  return Status::success();
}

/// The memory of the smallest device of a rank's copies.
static int64_t capacityOf(const PipelineProblem &problem, size_t rank) {
  const Cluster &cluster = problem.network->getCluster();
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t copy = 0; copy < problem.copies; ++copy) {
    const int64_t other = problem.ranks[rank] + copy * problem.stride;
    const double bytes = cluster.deviceOf(int(other)).memoryBytes.value;
    least = bytes > 0 ? std::min(least, int64_t(bytes)) : least;
  }
  return least;
}

/// Adds to updates what the copies take to add up gradients.
static Status addSums(const PipelineProblem &problem,
                      const schedule::Table &table, StepCosts &costs) {
  if (problem.copies < 2)
    return Status::success();
  const StepOnRanks step(costs, table);
  for (int64_t stage = 0; stage < costs.countStages(); ++stage) {
    CollectiveCall call;
    call.request.algorithm = runtime::transport::Algorithm::Own;
    call.request.ranks = int(problem.copies);
    call.request.elements = costs.sums[size_t(stage)] / call.elementBytes;
    call.messageBytes = 1 << 20;
    const auto first = size_t(step.ranksOf(stage).front());
    for (int64_t copy = 0; copy < problem.copies; ++copy)
      call.ranks.push_back(int(problem.ranks[first] + copy * problem.stride));
    Time time = 0;
    if (Status status = problem.network->collective(call, time); !status.ok())
      return status;
    costs.times[size_t(stage)].step += time;
  }
  return Status::success();
}

/// The stages, each with the times of the slowest device of its ranks.
StepCosts PipelinePlanner::join(const Search &search,
                                const std::vector<size_t> &ends) const {
  StepCosts costs = problem.blocks.front().join(ends);
  for (size_t kind = 0; kind < problem.blocks.size(); ++kind) {
    const StepCosts own = problem.blocks[kind].join(ends);
    for (size_t stage = 0; stage < ends.size(); ++stage)
      if (search.kinds[stage] == kind)
        costs.times[stage] = own.times[stage];
  }
  return costs;
}

Status PipelinePlanner::evaluate(const Search &search, PipelineChoice &choice) {
  ++timelines;
  StepCosts costs = join(search, choice.ends);
  schedule::Table table = search.table;
  Timeline timeline;
  Status status = addSums(problem, table, costs);
  if (status.ok())
    status = makeStepTimeline(costs, *problem.network, problem.ranks, table,
                              timeline);
  if (!status.ok())
    return status;
  choice.span = timeline.span;
  choice.idle = timeline.idle().value();
  choice.sent = 0;
  const StepOnRanks step(costs, search.table);
  std::vector<int64_t> sent = step.sentBytes();
  for (int64_t stage = 0; stage < costs.countStages(); ++stage)
    for (int rank : step.ranksOf(stage))
      sent[size_t(rank)] +=
          2 * costs.sums[size_t(stage)] * (problem.copies - 1) / problem.copies;
  for (int64_t bytes : sent)
    choice.sent = std::max(choice.sent, bytes);
  const StepMemory memory =
      problem.memory.join(choice.ends, search.splitsBackward);
  choice.memory = choice.excess = 0;
  const std::vector<RankMemory> all = findMemory(table, memory);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const int64_t bytes = all[rank].parts().total();
    choice.memory = std::max(choice.memory, bytes);
    choice.excess += std::max<int64_t>(0, bytes - capacityOf(problem, rank));
  }
  return status;
}

/// Moves the ends [first, last] by some blocks, if that is better.
bool PipelinePlanner::move(const Search &search, size_t first, size_t last,
                           int64_t by, PipelineChoice &best) {
  const int64_t before = first ? int64_t(best.ends[first - 1]) : 0;
  if (timelines >= budget || int64_t(best.ends[first]) + by <= before ||
      int64_t(best.ends[last]) + by >= int64_t(best.ends[last + 1]))
    return false;
  PipelineChoice moved = best;
  for (size_t i = first; i <= last; ++i)
    moved.ends[i] = size_t(int64_t(moved.ends[i]) + by);
  if (!evaluate(search, moved).ok() || !isBetter(moved, best))
    return false;
  best = std::move(moved);
  return true;
}

/// Moves one end after the other, by fewer and fewer blocks, and then several
/// in a row by one.
void PipelinePlanner::improve(const Search &search, PipelineChoice &best) {
  const size_t ends = best.ends.size() - 1;
  for (int64_t by = 4; by > 0;) {
    bool hasMoved = false;
    for (size_t i = 0; i < ends; ++i)
      for (int64_t sign : {-1, 1})
        hasMoved |= move(search, i, i, sign * by, best);
    by = hasMoved ? by : by / 2;
  }
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t count = 1; count <= ends; ++count)
      for (size_t i = 0; i + count <= ends; ++i)
        for (int64_t by : {-1, 1})
          hasMoved |= move(search, i, i + count - 1, by, best);
  }
}

std::vector<std::vector<size_t>>
PipelinePlanner::starts(const Search &search) const {
  const StepOnRanks step(problem.blocks.front(), search.table);
  const size_t stages = search.kinds.size();
  std::vector<std::vector<double>> weights(stages), cuts(stages - 1);
  for (size_t stage = 0; stage < stages; ++stage)
    for (const StageTimes &times : problem.blocks[search.kinds[stage]].times)
      weights[stage].push_back(
          toSeconds(times.forward + times.input + times.weight));
  // What crosses a cut, forward and back.
  std::vector<int64_t> bytes(weights.front().size());
  for (const StepCosts::Value &value : problem.blocks.front().values) {
    int64_t first = value.stage, last = value.stage;
    for (int64_t reader : value.readers) {
      first = std::min(first, reader);
      last = std::max(last, reader);
    }
    for (int64_t cut = first + 1; cut <= last && !value.isOfUpdate; ++cut)
      bytes[size_t(cut)] += value.bytes;
  }
  for (size_t stage = 1; stage < stages; ++stage) {
    const auto from = size_t(step.ranksOf(int64_t(stage) - 1).front()),
               to = size_t(step.ranksOf(int64_t(stage)).front());
    for (int64_t size : bytes)
      cuts[stage - 1].push_back(toSeconds(problem.network->transfer(
          int(problem.ranks[from]), int(problem.ranks[to]), size)));
  }
  std::vector<std::vector<size_t>> all = {divideRow(weights)};
  double heaviest = 0;
  size_t begin = 0;
  for (size_t stage = 0; stage < stages; begin = all.front()[stage++])
    heaviest = std::max(
        heaviest, std::accumulate(
                      weights[stage].begin() + long(begin),
                      weights[stage].begin() + long(all.front()[stage]), 0.0));
  for (double more : {1.05, 1.2, 1.5, 2.0, 4.0, 1e300})
    if (auto ends = cutRow(weights, cuts, heaviest * more);
        !ends.empty() && std::find(all.begin(), all.end(), ends) == all.end())
      all.push_back(std::move(ends));
  return all;
}

/// Goes on from the best of the starts, which `best` has one of.
Status PipelinePlanner::begin(const Search &search, Time worth,
                              PipelineChoice &best) {
  Status status = evaluate(search, best);
  for (std::vector<size_t> &ends : starts(search)) {
    PipelineChoice other = best;
    other.ends = std::move(ends);
    if (status.ok() && other.ends.size() == best.ends.size() &&
        other.ends != best.ends && timelines < budget &&
        evaluate(search, other).ok() && isBetter(other, best))
      best = std::move(other);
  }
  if (status.ok() && (best.excess > 0 || best.span <= worth))
    improve(search, best);
  return status;
}

Status PipelinePlanner::plan(const std::string &name, int64_t chunks,
                             Time worth, PipelineChoice &best) {
  schedule::ScheduleOptions options;
  options.name = name;
  options.ranks = int64_t(problem.ranks.size());
  options.chunks = chunks;
  options.microBatches = problem.microBatches;
  Search search;
  if (Status status = search.make(problem, options); !status.ok())
    return status;
  const auto stages = size_t(search.table.countStages());
  const size_t blocks = problem.blocks.front().times.size();
  if (blocks < stages)
    return Status::error(MLC_USAGE, std::to_string(stages) +
                                        " stages cannot be made of " +
                                        std::to_string(blocks) + " blocks");
  best = {name, chunks, {}, starts(search).front()};
  return begin(search, worth, best);
}

/// The blocks as PipeDream's program takes them.
static std::vector<Layer> layersOf(const StepCosts &blocks) {
  std::vector<Layer> layers;
  for (size_t i = 0; i < blocks.times.size(); ++i) {
    const StageTimes &times = blocks.times[i];
    layers.push_back({std::to_string(i), toSeconds(times.forward),
                      toSeconds(times.input + times.weight), 0,
                      double(blocks.sums[i])});
  }
  for (const StepCosts::Value &value : blocks.values) {
    int64_t last = value.stage;
    for (int64_t reader : value.readers)
      last = std::max(last, reader);
    for (int64_t i = value.stage; i < last && !value.isOfUpdate; ++i)
      layers[size_t(i)].outputBytes += double(value.bytes);
  }
  return layers;
}

/// Stages and their ranks as PipeDream's program divides them.
static Status divideRanks(const PipelineProblem &problem,
                          PipelineChoice &choice) {
  const int ranks = int(problem.ranks.size());
  const Cluster &cluster = problem.network->getCluster();
  const Level &level = cluster.levels[size_t(
      cluster.levelOf(int(problem.ranks.front()), int(problem.ranks.back())))];
  const std::vector<Layer> layers = layersOf(problem.blocks.front());
  const std::vector<MachineLevel> levels = {{ranks, level.bandwidth.at(2)}};
  constexpr double mostSteps = 1e8;
  if (stepsToDivide(layers.size(), levels) > mostSteps)
    return Status::error(MLC_RESOURCES, "too many ranks to divide exactly");
  for (const PlannedStage &stage : divideStages(layers, levels).stages) {
    choice.ends.push_back(stage.end);
    choice.replicas.push_back(stage.replicas);
  }
  return Status::success();
}

Status PipelinePlanner::planReplicas(const std::string &name, int64_t stages,
                                     Time worth, PipelineChoice &best) {
  const auto ranks = int64_t(problem.ranks.size());
  best = {name, 0};
  if (stages > 0)
    best.replicas.assign(size_t(stages), ranks / stages);
  else if (Status status = divideRanks(problem, best); !status.ok())
    return status;
  if (best.replicas.size() < 2 || best.replicas.size() == size_t(ranks))
    return Status::error(MLC_USAGE, "no stage has several ranks beside others");
  schedule::ScheduleOptions options;
  options.name = name;
  options.microBatches = problem.microBatches;
  options.replicas = best.replicas;
  Search search;
  if (Status status = search.make(problem, options); !status.ok())
    return status;
  if (problem.blocks.front().times.size() < best.replicas.size())
    return Status::error(MLC_USAGE, "there are fewer blocks than stages");
  if (best.ends.empty())
    best.ends = starts(search).front();
  return begin(search, worth, best);
}

Time PipelinePlanner::bound() const {
  // Ranks share all work so that they end together; a micro-batch goes through
  // all blocks, on the fastest devices.
  double perSecond = 0;
  for (size_t kind : problem.kinds)
    perSecond +=
        1 / std::max(toSeconds(problem.blocks[kind].computing()), 1e-12);
  Time way = kLongestTime;
  for (const StepCosts &blocks : problem.blocks) {
    Time own = 0;
    for (const StageTimes &times : blocks.times)
      own += times.forward + times.input;
    way = std::min(way, own);
  }
  // A picosecond less, since times are rounded.
  return std::max(toTime(double(problem.microBatches) / perSecond) - 1, way);
}

} // namespace mlc::planner
