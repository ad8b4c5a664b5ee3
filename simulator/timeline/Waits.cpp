//===- Waits.cpp - What ranks wait for ------------------------------------===//

#include "simulator/timeline/Waits.h"
#include <fmt/format.h>

using namespace mlc::simulator;
using namespace mlc::runtime::schedule;

static bool isCollective(ActionKind kind) {
  return kind == ActionKind::ReduceGradients || kind == ActionKind::Unshard;
}

std::vector<Wait> mlc::simulator::findWaits(const Table &table,
                                            const Timeline &timeline,
                                            int32_t rank) {
  std::vector<Wait> waits;
  const std::vector<Action> &actions = table.ranks[size_t(rank)];
  const std::vector<Interval> &times = timeline.ranks[size_t(rank)];
  for (const Interval &bubble : bubbles(table, timeline, rank)) {
    Wait wait{bubble, {}, {}, {}};
    for (size_t i = 0; i < actions.size() && !wait.next; ++i)
      if (isCompute(actions[i].kind) && times[i].start == bubble.end &&
          times[i].end > bubble.end)
        wait.next = i;
    if (wait.next) {
      for (size_t i = 0; i < timeline.transfers.size(); ++i)
        if (timeline.transfers[i].to == rank &&
            timeline.transfers[i].time.end == bubble.end)
          wait.transfer = i;
      for (size_t i = 0; i < *wait.next && !wait.transfer; ++i)
        if (isCollective(actions[i].kind) && times[i].end == bubble.end)
          wait.collective = i;
    }
    waits.push_back(wait);
  }
  return waits;
}

std::string mlc::simulator::describe(const Wait &wait, const Table &table,
                                     const Timeline &timeline, int32_t rank) {
  const std::vector<Action> &actions = table.ranks[size_t(rank)];
  const std::string time = toText(wait.time.end - wait.time.start);
  if (!wait.next)
    return fmt::format("{} until other ranks are done", time);
  const std::string next = toString(actions[*wait.next]);
  if (wait.collective)
    return fmt::format("{} waits {} for {}", next, time,
                       toString(actions[*wait.collective]));
  if (!wait.transfer)
    return fmt::format("{} waits {}", next, time);
  const TransferTime &message = timeline.transfers[*wait.transfer];
  const Action &made =
      table.ranks[size_t(message.from)][size_t(message.fromIndex)];
  return fmt::format("{} waits {} for {} of rank {}: {} bytes, sent at {}, {} "
                     "on the link",
                     next, time, toString(made), message.from, message.bytes,
                     toText(message.time.start),
                     toText(message.time.end - message.time.start));
}
