//===- PipelinePlanner.cpp - Stages and a schedule for a step -------------===//

#include "planner/pipelines/PipelinePlanner.h"
#include "planner/stages/StagePlanner.h"
#include "runtime/schedule/Generate.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace mlc::simulator;
using mlc::runtime::Status;
namespace schedule = mlc::runtime::schedule;
using schedule::ActionKind;

namespace mlc::planner {

std::vector<size_t> divideRow(const std::vector<double> &weights,
                              size_t stages) {
  const size_t count = weights.size();
  std::vector<double> sums(count + 1);
  for (size_t i = 0; i < count; ++i)
    sums[i + 1] = sums[i] + weights[i];
  // By parts and weights: the heaviest of the parts, and where the last begins.
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> heaviest(
      stages + 1, std::vector<double>(count + 1, infinite));
  std::vector<std::vector<size_t>> begins(stages + 1,
                                          std::vector<size_t>(count + 1));
  heaviest[0][0] = 0;
  for (size_t parts = 1; parts <= stages; ++parts)
    for (size_t end = parts; end <= count; ++end)
      for (size_t begin = parts - 1; begin < end; ++begin) {
        const double most =
            std::max(heaviest[parts - 1][begin], sums[end] - sums[begin]);
        if (most >= heaviest[parts][end])
          continue;
        heaviest[parts][end] = most;
        begins[parts][end] = begin;
      }
  std::vector<size_t> ends(stages);
  size_t end = count;
  for (size_t parts = stages; parts > 0; --parts) {
    ends[parts - 1] = end;
    end = begins[parts][end];
  }
  return ends;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

StepMemory joinMemory(const StepMemory &blocks, const std::vector<size_t> &ends,
                      bool splitsBackward) {
  auto stageOf = [&](int64_t block) {
    return std::upper_bound(ends.begin(), ends.end(), size_t(block)) -
           ends.begin();
  };
  auto entryOf = [&](StageEntry entry) {
    entry.stage = stageOf(entry.stage);
    if (!splitsBackward && (entry.kind == ActionKind::InputGradient ||
                            entry.kind == ActionKind::WeightGradient))
      entry.kind = ActionKind::Backward;
    return entry;
  };
  auto entriesOf = [&](const std::vector<StageEntry> &all) {
    std::vector<StageEntry> found;
    for (const StageEntry &entry : all)
      if (const StageEntry own = entryOf(entry);
          std::find(found.begin(), found.end(), own) == found.end())
        found.push_back(own);
    return found;
  };
  StepMemory joined;
  joined.samples = blocks.samples;
  std::map<StageEntry, StepMemory::Entry> entries;
  for (const StepMemory::Entry &block : blocks.entries) {
    StepMemory::Entry &own = entries[entryOf(block.entry)];
    own.entry = entryOf(block.entry);
    own.arena = std::max(own.arena, block.arena);
    own.scratch = std::max(own.scratch, block.scratch);
  }
  std::map<StageEntry, int64_t> inside;
  for (const StepMemory::Value &value : blocks.values) {
    StepMemory::Value own{entryOf(value.source), entriesOf(value.readers),
                          value.bytes};
    std::erase(own.readers, own.source);
    if (own.readers.empty())
      inside[own.source] = std::max(inside[own.source], own.bytes);
    else
      joined.values.push_back(std::move(own));
  }
  for (auto &[name, entry] : entries) {
    entry.arena += inside[name];
    joined.entries.push_back(entry);
  }
  for (const StepMemory::State &state : blocks.states)
    joined.states.push_back({entriesOf(state.users), state.bytes,
                             state.sumOf < 0 ? -1 : stageOf(state.sumOf)});
  return joined;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

struct PipelinePlanner::Search {
  schedule::Table table; ///< without transfers
  bool splitsBackward = false;

  Status make(const schedule::ScheduleOptions &options);
};

Status PipelinePlanner::Search::make(const schedule::ScheduleOptions &options) {
  if (Status status = schedule::generate(options, table); !status.ok())
    return status;
  for (const auto &actions : table.ranks)
    for (const schedule::Action &action : actions)
      splitsBackward |= action.kind == ActionKind::WeightGradient;
  return Status::success();
}

static int64_t capacityOf(const PipelineProblem &problem, size_t rank) {
  const double bytes = problem.network->getCluster()
                           .deviceOf(int(problem.ranks[rank]))
                           .memoryBytes.value;
  return bytes > 0 ? int64_t(bytes) : std::numeric_limits<int64_t>::max();
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

Status PipelinePlanner::evaluate(const Search &search, PipelineChoice &choice) {
  ++timelines;
  StepCosts costs = problem.blocks.join(choice.ends);
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
      joinMemory(problem.memory, choice.ends, search.splitsBackward);
  choice.memory = choice.excess = 0;
  const std::vector<RankMemory> all = findMemory(table, memory);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const int64_t bytes = all[rank].parts().total();
    choice.memory = std::max(choice.memory, bytes);
    choice.excess += std::max<int64_t>(0, bytes - capacityOf(problem, rank));
  }
  return status;
}

static bool isBetter(const PipelineChoice &a, const PipelineChoice &b) {
  return std::pair(a.excess, a.span) < std::pair(b.excess, b.span);
}

/// Moves one end after the other, by fewer and fewer blocks.
void PipelinePlanner::improve(const Search &search, PipelineChoice &best) {
  for (size_t by = 4; by > 0;) {
    bool hasMoved = false;
    for (size_t i = 0; i + 1 < best.ends.size(); ++i)
      for (const bool isBack : {true, false}) {
        const size_t before = i ? best.ends[i - 1] : 0, end = best.ends[i];
        if (isBack ? end < before + by + 1 : end + by >= best.ends[i + 1])
          continue;
        if (timelines >= budget)
          return;
        PipelineChoice moved = best;
        moved.ends[i] = isBack ? end - by : end + by;
        if (!evaluate(search, moved).ok() || !isBetter(moved, best))
          continue;
        best = std::move(moved);
        hasMoved = true;
      }
    by = hasMoved ? by : by / 2;
  }
}

Status PipelinePlanner::begin(const Search &search, Time worth,
                              PipelineChoice &best) {
  Status status = evaluate(search, best);
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
  if (Status status = search.make(options); !status.ok())
    return status;
  const auto stages = size_t(search.table.countStages());
  std::vector<double> weights;
  for (const StageTimes &times : problem.blocks.times)
    weights.push_back(toSeconds(times.forward + times.input + times.weight));
  if (weights.size() < stages)
    return Status::error(MLC_USAGE,
                         std::to_string(stages) + " stages cannot be made of " +
                             std::to_string(weights.size()) + " blocks");
  best = {name, chunks, {}, divideRow(weights, stages)};
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

Status PipelinePlanner::planReplicas(const std::string &name, Time worth,
                                     PipelineChoice &best) {
  const int ranks = int(problem.ranks.size());
  const Cluster &cluster = problem.network->getCluster();
  const Level &level = cluster.levels[size_t(
      cluster.levelOf(int(problem.ranks.front()), int(problem.ranks.back())))];
  const std::vector<Layer> layers = layersOf(problem.blocks);
  const std::vector<MachineLevel> levels = {{ranks, level.bandwidth.at(2)}};
  constexpr double mostSteps = 1e8;
  if (stepsToDivide(layers.size(), levels) > mostSteps)
    return Status::error(MLC_RESOURCES, "too many ranks to divide exactly");
  best = {name, 0};
  for (const PlannedStage &stage : divideStages(layers, levels).stages) {
    best.ends.push_back(stage.end);
    best.replicas.push_back(stage.replicas);
  }
  if (best.ends.size() < 2 || best.ends.size() == size_t(ranks))
    return Status::error(MLC_USAGE, "no stage has several ranks beside others");
  schedule::ScheduleOptions options;
  options.name = name;
  options.microBatches = problem.microBatches;
  options.replicas = best.replicas;
  Search search;
  if (Status status = search.make(options); !status.ok())
    return status;
  return begin(search, worth, best);
}

Time PipelinePlanner::bound() const {
  Time all = 0, way = 0;
  for (const StageTimes &times : problem.blocks.times) {
    all += times.forward + times.input + times.weight;
    way += times.forward + times.input;
  }
  const auto ranks = int64_t(problem.ranks.size());
  return std::max((all * problem.microBatches + ranks - 1) / ranks, way);
}

} // namespace mlc::planner
