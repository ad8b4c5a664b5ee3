//===- Simulation.cpp - A simulated step of a pipeline --------------------===//

#include "tools/mlc/Simulation.h"
#include "runtime/Text.h"
#include "runtime/schedule/Check.h"
#include "simulator/timeline/Pictures.h"
#include "simulator/timeline/Waits.h"
#include "tools/mlc/Failure.h"
#include <fmt/format.h>
#include <set>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::simulator;
namespace json = llvm::json;
namespace schedule = mlc::runtime::schedule;

Time Simulation::onOneRank() const {
  // All ranks of a stage update it.
  std::vector<int64_t> updates(stages.size());
  for (const auto &actions : table.ranks) {
    std::vector<int64_t> own(stages.size());
    for (const schedule::Action &action : actions)
      if (action.kind == schedule::ActionKind::Step)
        updates[action.stage] =
            std::max(updates[action.stage], ++own[action.stage]);
  }
  Time sum = 0;
  for (auto [stage, count] : llvm::zip(stages, updates))
    sum += (stage.forward + stage.input + stage.weight) *
               table.countMicroBatches() +
           stage.step * count;
  return sum;
}

std::string Simulation::nameOf(size_t rank) const {
  return copies == 1
             ? fmt::format("rank {}", worldRanks[rank])
             : fmt::format("rank {} ({} alike)", worldRanks[rank], copies);
}

std::vector<int64_t> Simulation::alike(size_t rank) const {
  const auto count = int64_t(worldRanks.size());
  const int64_t stride = count > 1 ? worldRanks[1] - worldRanks[0] : 1;
  std::vector<int64_t> all;
  for (int64_t other = 0; other < count * copies; ++other)
    if (other / stride % count == int64_t(rank))
      all.push_back(other);
  return all;
}

std::vector<int64_t> Simulation::stagesOf(size_t rank) const {
  std::set<int64_t> found;
  for (const schedule::Action &action : table.ranks[rank])
    if (schedule::isCompute(action.kind))
      found.insert(action.stage);
  return {found.begin(), found.end()};
}

Time Simulation::timeOf(size_t rank, const RankMemory::Point &point) const {
  if (point.action.empty())
    return 0;
  return point.index < 0 ? timeline.span
                         : timeline.ranks[rank][point.index].start;
}

llvm::Error mlc::cli::checkCapacity(const Simulation &result) {
  for (auto [rank, memory] : llvm::enumerate(result.memory)) {
    // The smallest of those that do the same.
    int64_t least = result.worldRanks[rank];
    for (int64_t other : result.alike(rank))
      if (result.cluster.deviceOf(int(other)).memoryBytes.value <
          result.cluster.deviceOf(int(least)).memoryBytes.value)
        least = other;
    const Device &device = result.cluster.deviceOf(int(least));
    const auto capacity = int64_t(device.memoryBytes.value);
    const RankMemory::Point *beyond =
        capacity > 0 ? memory.findBeyond(capacity) : nullptr;
    if (!beyond)
      continue;
    const std::string where =
        beyond->action.empty() ? "before the first action" : beyond->action;
    return fail(
        Exit::Resources,
        fmt::format(
            "{}: rank {}, {}: {} bytes too many for the {} of its device {} "
            "({} after the step); take more ranks or stages, smaller "
            "micro-batches, or a schedule that keeps fewer activations",
            result.model, least, where, beyond->allocated.total() - capacity,
            capacity, runtime::printable(device.name),
            memory.parts().total() - capacity));
  }
  return llvm::Error::success();
}

/// "12.3 MB".
static std::string megabytes(int64_t bytes) {
  return fmt::format("{:.2f} MB", double(bytes) / (1 << 20));
}

std::string mlc::cli::describe(const Simulation &result) {
  const size_t ranks = result.table.ranks.size();
  std::string text = fmt::format(
      "step: {} on {} rank{} of {}, idle {}; ", toText(result.timeline.span),
      ranks * result.copies, ranks * result.copies == 1 ? "" : "s",
      result.cluster.name, toPercent(result.timeline.idle()));
  text += result.copies > 1
              ? fmt::format("{} share each part of the work\n", result.copies)
              : toText(result.onOneRank()) + " on one rank\n";
  for (auto [i, stage] : llvm::enumerate(result.stages))
    text += fmt::format("stage {}: forward {}, backward {}, update {}\n", i,
                        toText(stage.forward),
                        toText(stage.input + stage.weight), toText(stage.step));
  const std::vector<int64_t> kept = schedule::activationsInFlight(result.table);
  for (size_t rank = 0; rank < result.table.ranks.size(); ++rank) {
    const RankMemory &memory = result.memory[rank];
    const MemoryParts &parts = memory.parts();
    text +=
        fmt::format("{}: busy {}, idle {}, {} bytes sent, activations of {} "
                    "micro-batches\n",
                    result.nameOf(rank), toText(result.timeline.busy[rank]),
                    toPercent(result.timeline.idle(int32_t(rank))),
                    result.sent[rank], kept[rank]);
    text += fmt::format(
        "{}: {} of memory{}: {} of states, {} of arenas, {} carried; at "
        "most {} in use, in {}\n",
        result.nameOf(rank), megabytes(parts.total()),
        result.isCompiled ? "" : ", estimated", megabytes(parts.states),
        megabytes(parts.arenas), megabytes(parts.carried),
        megabytes(memory.peak().inUse), memory.peak().action);
  }
  if (!result.replayed.empty()) {
    std::vector<double> sorted = result.replayed;
    llvm::sort(sorted);
    const double measured = sorted[sorted.size() / 2],
                 predicted = toSeconds(result.timeline.span);
    text += fmt::format("replay: {} measured, {} predicted, {:+.1f} % (the "
                        "median of {} steps)\n",
                        toText(toTime(measured)), toText(result.timeline.span),
                        100 * (measured / predicted - 1), sorted.size());
  }
  return text;
}

static json::Object toJson(const MemoryParts &parts) {
  return json::Object{{"states", parts.states},   {"arenas", parts.arenas},
                      {"carried", parts.carried}, {"sums", parts.sums},
                      {"samples", parts.samples}, {"scratch", parts.scratch}};
}

/// The waits of a rank, with what ends them.
static json::Array waitsOf(const Simulation &result, size_t rank) {
  json::Array waits;
  for (const Wait &wait :
       findWaits(result.table, result.timeline, int32_t(rank))) {
    json::Object one{{"from_seconds", toSeconds(wait.time.start)},
                     {"to_seconds", toSeconds(wait.time.end)}};
    if (wait.next)
      one["next"] = toString(result.table.ranks[rank][*wait.next]);
    if (wait.transfer) {
      const TransferTime &message = result.timeline.transfers[*wait.transfer];
      one["message_from"] = message.from;
      one["message_bytes"] = message.bytes;
      one["sent_seconds"] = toSeconds(message.time.start);
    }
    if (wait.collective)
      one["collective"] = toString(result.table.ranks[rank][*wait.collective]);
    waits.push_back(std::move(one));
  }
  return waits;
}

static json::Object memoryOf(const Simulation &result, size_t rank) {
  const RankMemory &memory = result.memory[rank];
  json::Object object = toJson(memory.parts());
  object["total"] = memory.parts().total();
  object["capacity"] = int64_t(result.deviceOf(rank).memoryBytes.value);
  object["most_in_use"] = memory.peak().inUse;
  object["most_at"] = memory.peak().action;
  json::Array points;
  for (const RankMemory::Point &point : memory.points)
    points.push_back(
        json::Object{{"action", point.action},
                     {"seconds", toSeconds(result.timeOf(rank, point))},
                     {"allocated", point.allocated.total()},
                     {"in_use", point.inUse}});
  object["over_time"] = std::move(points);
  return object;
}

json::Value mlc::cli::toJson(const Simulation &result) {
  json::Array ranks, stages;
  const std::vector<int64_t> kept = schedule::activationsInFlight(result.table);
  for (size_t rank = 0; rank < result.table.ranks.size(); ++rank)
    ranks.push_back(
        json::Object{{"rank", result.worldRanks[rank]},
                     {"busy_seconds", toSeconds(result.timeline.busy[rank])},
                     {"idle", result.timeline.idle(int32_t(rank)).value()},
                     {"stages", json::Array(result.stagesOf(rank))},
                     {"sent_bytes", result.sent[rank]},
                     {"activations", kept[rank]},
                     {"waits", waitsOf(result, rank)},
                     {"memory", memoryOf(result, rank)}});
  for (const StageTimes &stage : result.stages)
    stages.push_back(json::Object{
        {"forward_seconds", toSeconds(stage.forward)},
        {"backward_seconds", toSeconds(stage.input + stage.weight)},
        {"update_seconds", toSeconds(stage.step)}});
  json::Array entries;
  for (const StepMemory::Entry &one : result.step.entries)
    entries.push_back(json::Object{{"entry", one.entry.name()},
                                   {"arena", one.arena},
                                   {"scratch", one.scratch}});
  return json::Object{{"cluster", result.cluster.name},
                      {"copies", result.copies},
                      {"seconds", toSeconds(result.timeline.span)},
                      {"idle", result.timeline.idle().value()},
                      {"seconds_on_one_rank", toSeconds(result.onOneRank())},
                      {"memory_is_compiled", result.isCompiled},
                      {"replayed_seconds", json::Array(result.replayed)},
                      {"entries", std::move(entries)},
                      {"stages", std::move(stages)},
                      {"ranks", std::move(ranks)}};
}
