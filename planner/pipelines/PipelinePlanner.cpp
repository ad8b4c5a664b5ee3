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

/// A table without transfers.
struct PipelinePlanner::Search {
  schedule::Table table;
  /// The same for a few micro-batches less and still less: a step of many is so
  /// much longer as their difference says. Empty if there are not many.
  std::vector<schedule::Table> shorter;
  bool splitsBackward = false;
  std::vector<size_t> kinds; ///< of the slowest device that has a stage

  Status make(const PipelineProblem &problem,
              schedule::ScheduleOptions options);
};

Status PipelinePlanner::Search::make(const PipelineProblem &problem,
                                     schedule::ScheduleOptions options) {
  if (Status status = schedule::generate(options, table); !status.ok())
    return status;
  const auto ranks = int64_t(problem.places.ranks.size()),
             all = options.microBatches;
  // Where all ranks are busy, each round of micro-batches is like the others.
  for (int64_t rounds : {3, 4})
    if (options.microBatches = all % ranks + rounds * ranks;
        options.microBatches + ranks < all)
      if (Status status = schedule::generate(options, shorter.emplace_back());
          !status.ok())
        return status;
  if (shorter.size() < 2)
    shorter.clear();
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

/// The memory of the smallest device that does what a rank does.
static int64_t capacityOf(const PipelineProblem &problem, size_t rank) {
  const Cluster &cluster = problem.network->getCluster();
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t offset : problem.places.offsets) {
    const int64_t other = problem.places.ranks[rank] + offset;
    const double bytes = cluster.deviceOf(int(other)).memoryBytes.value;
    least =
        bytes > 0 ? std::min(least, int64_t(bytes / problem.margin)) : least;
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
    const int64_t begin = problem.places.ranks[first];
    for (int64_t copy = 0; copy < problem.copies; ++copy)
      call.ranks.push_back(int(begin + copy * problem.stride));
    std::vector<int> groups;
    for (int64_t part = 0; part < problem.parts; ++part)
      groups.push_back(int(begin + part));
    call.sharing = problem.network->countInNode(groups);
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

/// A simulated step, whose numbers grow evenly with micro-batches.
struct PipelinePlanner::Sample {
  double span = 0, idle = 0; ///< of all ranks, of the span
  std::vector<double> sent, memory;

  /// Goes on from two samples of fewer micro-batches.
  static Sample extend(const Sample &less, const Sample &more, double factor);
};

PipelinePlanner::Sample PipelinePlanner::Sample::extend(const Sample &less,
                                                        const Sample &more,
                                                        double factor) {
  auto on = [&](double a, double b) { return b + (b - a) * factor; };
  Sample all;
  all.span = on(less.span, more.span);
  all.idle = on(less.idle, more.idle);
  for (size_t i = 0; i < more.sent.size(); ++i)
    all.sent.push_back(on(less.sent[i], more.sent[i]));
  for (size_t i = 0; i < more.memory.size(); ++i)
    all.memory.push_back(on(less.memory[i], more.memory[i]));
  return all;
}

Status PipelinePlanner::simulate(const StepCosts &costs, schedule::Table &table,
                                 Sample &sample) const {
  const StepOnRanks step(costs, table);
  Timeline timeline;
  if (Status status = makeStepTimeline(costs, *problem.network, problem.places,
                                       table, timeline);
      !status.ok())
    return status;
  sample.span = double(timeline.span);
  sample.idle = timeline.idle().value() * sample.span;
  for (int64_t bytes : step.sentBytes())
    sample.sent.push_back(double(bytes));
  sample.sent.resize(problem.places.ranks.size());
  for (int64_t stage = 0; stage < costs.countStages(); ++stage)
    for (int rank : step.ranksOf(stage))
      sample.sent[size_t(rank)] +=
          double(2 * costs.sums[size_t(stage)] * (problem.copies - 1) /
                 problem.copies);
  return Status::success();
}

/// The tables that are simulated, and how far behind the last one the step is.
static std::pair<std::vector<schedule::Table>, double>
tablesOf(const schedule::Table &all,
         const std::vector<schedule::Table> &shorter) {
  if (shorter.empty())
    return {{all}, 0};
  const auto first = double(shorter[0].countMicroBatches()),
             second = double(shorter[1].countMicroBatches());
  return {shorter,
          (double(all.countMicroBatches()) - second) / (second - first)};
}

Status PipelinePlanner::evaluate(const Search &search, PipelineChoice &choice,
                                 const PipelineChoice *best) {
  ++timelines;
  StepCosts costs = join(search, choice.ends);
  if (Status status = addSums(problem, search.table, costs); !status.ok())
    return status;
  auto [tables, factor] = tablesOf(search.table, search.shorter);
  std::vector<Sample> samples(tables.size());
  for (size_t i = 0; i < tables.size(); ++i)
    if (Status status = simulate(costs, tables[i], samples[i]); !status.ok())
      return status;
  auto both = [&] {
    return samples.size() == 1 ? samples[0]
                               : Sample::extend(samples[0], samples[1], factor);
  };
  Sample all = both();
  choice.span = Time(all.span);
  choice.idle = all.idle / std::max(all.span, 1.0);
  choice.sent = int64_t(*std::max_element(all.sent.begin(), all.sent.end()));
  choice.memory = choice.excess = 0;
  // What is not faster than what fits need not fit.
  if (best && best->excess == 0 && choice.span >= best->span)
    return Status::success();
  const StepMemory memory =
      problem.memory.join(choice.ends, search.splitsBackward);
  for (size_t i = 0; i < tables.size(); ++i)
    for (const RankMemory &rank : findMemory(tables[i], memory))
      samples[i].memory.push_back(double(rank.parts().total()));
  all = both();
  double needed = 0, there = 0;
  for (size_t rank = 0; rank < all.memory.size(); ++rank) {
    const auto bytes = int64_t(all.memory[rank]);
    const int64_t capacity = capacityOf(problem, rank);
    choice.memory = std::max(choice.memory, bytes);
    choice.excess += std::max<int64_t>(0, bytes - capacity);
    needed += all.memory[rank];
    there += double(capacity);
  }
  choice.fill = needed / std::max(there, 1.0);
  return Status::success();
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
  if (!evaluate(search, moved, &best).ok() || !isBetter(moved, best))
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
      cuts[stage - 1].push_back(toSeconds(
          problem.network->transfer(int(problem.places.ranks[from]),
                                    int(problem.places.ranks[to]), size)));
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
  Status status = evaluate(search, best, nullptr);
  for (std::vector<size_t> &ends : starts(search)) {
    PipelineChoice other = best;
    other.ends = std::move(ends);
    if (status.ok() && other.ends.size() == best.ends.size() &&
        other.ends != best.ends && timelines < budget &&
        evaluate(search, other, &best).ok() && isBetter(other, best))
      best = std::move(other);
  }
  if (status.ok() && best.span <= worth && best.fill <= 1)
    improve(search, best);
  return status;
}

Status PipelinePlanner::plan(const std::string &name, int64_t chunks,
                             Time worth, PipelineChoice &best) {
  schedule::ScheduleOptions options;
  options.name = name;
  options.ranks = int64_t(problem.places.ranks.size());
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
  const int ranks = int(problem.places.ranks.size());
  const Cluster &cluster = problem.network->getCluster();
  const Level &level = cluster.levels[size_t(cluster.levelOf(
      int(problem.places.ranks.front()), int(problem.places.ranks.back())))];
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
  const auto ranks = int64_t(problem.places.ranks.size());
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
