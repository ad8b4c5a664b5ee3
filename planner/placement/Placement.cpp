//===- Placement.cpp - Each group of operators on one device --------------===//

#include "planner/placement/Placement.h"

#include <algorithm>

using namespace mlc::planner;

PlacementSimulator::PlacementSimulator(StepSimulator &simulator,
                                       const OperatorGroups &groups,
                                       int64_t capacity)
    : simulator(simulator), groups(groups), capacity(capacity),
      current(groups.count(), 0) {
  simulator.set(strategiesOf(current));
}

Strategies PlacementSimulator::strategiesOf(const Placement &placement) const {
  Strategies strategies;
  for (int32_t group : groups.groupOf)
    strategies.push_back(Strategy::onDevice(placement[group]));
  return strategies;
}

double PlacementSimulator::seconds(const Placement &placement) {
  changes.clear();
  for (size_t group = 0; group < placement.size(); ++group)
    if (placement[group] != current[group])
      for (int32_t op : groups.members[group])
        changes.push_back({op, Strategy::onDevice(placement[group])});
  if (!changes.empty()) {
    simulator.propose(changes);
    simulator.accept();
    current = placement;
  }
  ++placements;
  excess = 0;
  for (const StepSimulator::Load &load : simulator.loads())
    excess = std::max(excess, load.weightBytes + load.resultBytes - capacity);
  const double span = simulator::toSeconds(simulator.span());
  return excess ? span + 100 + 100 * double(excess) / double(capacity) : span;
}

Placement mlc::planner::drawPlacement(const OperatorGroups &groups,
                                      int32_t devices,
                                      std::mt19937_64 &random) {
  Placement placement;
  for (size_t i = 0; i < groups.count(); ++i)
    placement.push_back(int32_t(random() % uint64_t(devices)));
  return placement;
}

namespace {

/// Improves a placement by moves that are tried in a fixed order.
class PlacementClimb {
public:
  PlacementClimb(PlacementSimulator &simulator, const OperatorGroups &groups,
                 PlacementResult from, int64_t most)
      : simulator(simulator), groups(groups), best(std::move(from)),
        last(simulator.countPlacements() + most) {}

  PlacementResult run() {
    while (moveOnes() || movePairs()) {
    }
    return best;
  }

private:
  bool tryMove(size_t a, size_t b, int32_t device) {
    if (simulator.countPlacements() >= last)
      return false;
    Placement placement = best.placement;
    placement[a] = placement[b] = device;
    if (placement == best.placement)
      return false;
    const double seconds = simulator.seconds(placement);
    if (!(seconds < best.seconds * (1 - 1e-9)))
      return false;
    best = {std::move(placement), seconds};
    return true;
  }
  bool moveOnes() {
    bool moved = false;
    for (size_t group = 0; group < groups.count(); ++group)
      for (int32_t to = 0; to < simulator.countDevices(); ++to)
        moved |= tryMove(group, group, to);
    return moved;
  }
  bool movePairs() {
    bool moved = false;
    for (size_t a = 0; a < groups.count(); ++a)
      for (size_t b = a + 1; b < groups.count(); ++b)
        for (int32_t to = 0;
             groups.between(a, b) > 0 && to < simulator.countDevices(); ++to)
          moved |= tryMove(a, b, to);
    return moved;
  }

  PlacementSimulator &simulator;
  const OperatorGroups &groups;
  PlacementResult best;
  int64_t last;
};

} // namespace

PlacementResult mlc::planner::improvePlacement(PlacementSimulator &simulator,
                                               const OperatorGroups &groups,
                                               PlacementResult from,
                                               int64_t most) {
  return PlacementClimb(simulator, groups, std::move(from), most).run();
}

std::optional<PlacementResult>
mlc::planner::tryPlacements(PlacementSimulator &simulator,
                            const OperatorGroups &groups, bool alike,
                            int64_t most) {
  const int32_t devices = simulator.countDevices();
  Placement placement(groups.count(), 0);
  PlacementResult best{placement, simulator.seconds(placement)};
  for (int64_t tried = 1; tried <= most; ++tried) {
    // Counts up, from the last group on. Of devices that are alike, a group is
    // at most on the first one that has none yet.
    size_t at = groups.count();
    while (at > 0) {
      --at;
      int32_t used = 0;
      for (size_t i = 0; i < at; ++i)
        used = std::max(used, placement[i] + 1);
      const int32_t highest = alike ? std::min(used, devices - 1) : devices - 1;
      if (placement[at] < highest) {
        ++placement[at];
        std::fill(placement.begin() + int64_t(at) + 1, placement.end(), 0);
        break;
      }
      if (at == 0)
        return best;
    }
    if (groups.count() == 0)
      return best;
    const double seconds = simulator.seconds(placement);
    if (seconds < best.seconds)
      best = {placement, seconds};
  }
  return std::nullopt;
}

Placement mlc::planner::placeRuns(const OperatorGroups &groups,
                                  int32_t devices) {
  double all = 0, before = 0;
  for (double seconds : groups.seconds)
    all += seconds;
  Placement placement;
  for (double seconds : groups.seconds) {
    const double middle = all > 0 ? (before + seconds / 2) / all : 0;
    placement.push_back(
        std::min(devices - 1, int32_t(middle * double(devices))));
    before += seconds;
  }
  return placement;
}

double mlc::planner::cutBytes(const OperatorGroups &groups,
                              const Placement &placement) {
  double sum = 0;
  for (size_t a = 0; a < groups.count(); ++a)
    for (size_t b = a + 1; b < groups.count(); ++b)
      if (placement[a] != placement[b])
        sum += groups.between(a, b);
  return sum;
}
