//===- Links.cpp - Transfers that share links -----------------------------===//

#include "simulator/cluster/Links.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::simulator;

int Links::line(int level, Kind kind, int index, double capacity) {
  auto [found, isNew] =
      indices.try_emplace({level, kind, index}, static_cast<int>(lines.size()));
  if (isNew)
    lines.push_back({capacity, 0});
  return found->second;
}

void Links::begin(int id, int from, int to, double bytes, double most) {
  const int level = cluster.levelOf(from, to);
  const Level &link = cluster.levels[level];
  Flow flow{id, bytes, 0, most, {line(level, Out, from, bandwidth(level))}};
  if (!link.throttled)
    flow.lines.push_back(line(level, In, to, bandwidth(level)));
  if (link.sharedBytesPerSecond) {
    const double shared = link.sharedBytesPerSecond->value;
    const int below = level - 1;
    flow.lines.push_back(
        line(level, SharedOut, cluster.groupOf(below, from), shared));
    if (!link.throttled)
      flow.lines.push_back(
          line(level, SharedIn, cluster.groupOf(below, to), shared));
  }
  flows.push_back(std::move(flow));
  changed = true;
}

void Links::extend(int id, double bytes) {
  for (Flow &flow : flows)
    if (flow.id == id)
      flow.left += bytes;
}

/// Fills links progressively: the link with the least share for each of its
/// transfers gives them that, and they leave the others.
void Links::share() {
  if (!changed)
    return;
  changed = false;
  for (Line &line : lines)
    line = {line.capacity, line.capacity, 0};
  for (Flow &flow : flows) {
    flow.rate = 0;
    for (int line : flow.lines)
      ++lines[line].open;
  }
  std::vector<Flow *> open;
  for (Flow &flow : flows)
    open.push_back(&flow);
  // Links whose shares differ by rounding alone are full together.
  constexpr double close = 1 + 1e-12;
  while (!open.empty()) {
    double least = std::numeric_limits<double>::infinity();
    for (const Line &line : lines)
      if (line.open)
        least = std::min(least, line.free / line.open);
    for (const Flow *flow : open)
      least = std::min(least, flow->most);
    std::vector<char> full(lines.size());
    for (size_t i = 0; i < lines.size(); ++i)
      full[i] = lines[i].open && lines[i].free / lines[i].open <= least * close;
    std::vector<Flow *> left;
    for (Flow *flow : open) {
      const bool ends = flow->most <= least * close ||
                        std::any_of(flow->lines.begin(), flow->lines.end(),
                                    [&](int line) { return full[line]; });
      if (!ends) {
        left.push_back(flow);
        continue;
      }
      flow->rate = least;
      for (int line : flow->lines) {
        lines[line].free = std::max(0.0, lines[line].free - least);
        --lines[line].open;
      }
    }
    open = std::move(left);
  }
}

/// How long a transfer still takes.
static Time timeLeft(double bytes, double rate) { return toTime(bytes / rate); }

Time Links::nextEnd() {
  share();
  Time end = std::numeric_limits<Time>::max();
  for (const Flow &flow : flows)
    end = std::min(end, sum(now, timeLeft(flow.left, flow.rate)));
  return end;
}

std::vector<int> Links::advance(Time time) {
  share();
  std::vector<int> ended;
  std::vector<Flow> left;
  for (Flow &flow : flows) {
    // A difference of a picosecond is one of rounding.
    if (sum(now, timeLeft(flow.left, flow.rate)) <= sum(time, 1)) {
      ended.push_back(flow.id);
      continue;
    }
    flow.left -= flow.rate * toSeconds(time - now);
    left.push_back(std::move(flow));
  }
  changed |= !ended.empty();
  flows = std::move(left);
  now = time;
  return ended;
}
