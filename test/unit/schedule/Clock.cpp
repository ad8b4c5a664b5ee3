//===- Clock.cpp - Runs a table in unit times -----------------------------===//

#include "Clock.h"
#include <algorithm>

using namespace mlc::runtime::schedule;

namespace {

using Kind = ActionKind;
class Clock {
public:
  Clock(const Table &table, const UnitTimes &times)
      : table(table), times(times), next(table.ranks.size(), 0),
        free(table.ranks.size(), 0), live(table.ranks.size(), 0),
        stages(table.countStages()), microBatches(table.countMicroBatches()),
        slices(table.countSlices()),
        ends(4 * size_t(stages) * size_t(microBatches) * size_t(slices), -1) {
    result.inFlight.assign(table.ranks.size(), 0);
  }

  Clocked run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (size_t rank = 0; rank < next.size(); ++rank)
        while (next[rank] < table.ranks[rank].size() && step(rank))
          moves = true;
    }
    for (size_t rank = 0; rank < next.size(); ++rank) {
      if (next[rank] < table.ranks[rank].size())
        result.stuck = "rank " + std::to_string(rank) + " at " +
                       toString(table.ranks[rank][next[rank]]);
      result.span = std::max(result.span, free[rank]);
    }
    return result;
  }

private:
  /// The end of an action that has run, or -1.
  int64_t &endOf(Kind kind, const Action &action, int32_t stage) {
    // F, I, W and B are the first kinds.
    return ends[((size_t(kind) * size_t(stages) + size_t(stage)) *
                     size_t(microBatches) +
                 size_t(action.microBatch)) *
                    size_t(slices) +
                size_t(std::max(action.slice, 0))];
  }

  /// Runs the next action of the rank if what it needs is there.
  bool step(size_t rank) {
    const Action &action = table.ranks[rank][next[rank]];
    int64_t ready = 0, length = 0;
    switch (action.kind) {
    case Kind::Forward:
      ready = action.stage ? endOf(Kind::Forward, action, action.stage - 1) : 0;
      length = times.forward;
      break;
    case Kind::InputGradient:
    case Kind::Backward:
      ready =
          action.stage + 1 == stages
              ? endOf(Kind::Forward, action, action.stage)
              : std::max(endOf(Kind::InputGradient, action, action.stage + 1),
                         gradientOfB(action));
      length = times.input;
      if (endOf(Kind::Forward, action, action.stage) < 0)
        ready = -1;
      break;
    case Kind::WeightGradient:
      ready = endOf(Kind::InputGradient, action, action.stage);
      length = times.weight;
      break;
    default:
      break;
    }
    if (ready < 0)
      return false;
    const int64_t begin = std::max(ready, free[rank]);
    if (action.kind == Kind::Backward)
      length += times.weight;
    record(rank, action, begin + length, length);
    return true;
  }

  int64_t gradientOfB(const Action &action) {
    return endOf(Kind::Backward, action, action.stage + 1);
  }

  void record(size_t rank, const Action &action, int64_t end, int64_t length) {
    free[rank] = end;
    result.work += length;
    ++next[rank];
    if (isCompute(action.kind) && hasMicroBatch(action.kind))
      endOf(action.kind, action, action.stage) = end;
    if (action.kind == Kind::Forward)
      result.inFlight[rank] = std::max(result.inFlight[rank], ++live[rank]);
    if (action.kind == Kind::Backward || action.kind == Kind::WeightGradient)
      --live[rank];
  }

  const Table &table;
  const UnitTimes &times;
  Clocked result;
  std::vector<size_t> next;
  std::vector<int64_t> free, live;
  int32_t stages, microBatches, slices;
  std::vector<int64_t> ends;
};

} // namespace

Clocked runClock(const Table &table, const UnitTimes &times) {
  return Clock(table, times).run();
}
