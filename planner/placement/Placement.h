//===- Placement.h - Each group of operators on one device ------*- C++ -*-===//

#ifndef MLC_PLANNER_PLACEMENT_PLACEMENT_H
#define MLC_PLANNER_PLACEMENT_PLACEMENT_H

#include "planner/operators/StepSimulator.h"
#include "planner/placement/Groups.h"

#include <optional>
#include <random>

namespace mlc::planner {

/// A device for each group.
using Placement = std::vector<int32_t>;

/// Says what placements take. A device that has too little memory makes a
/// placement slower than any that fits; the more is missing, the slower.
class PlacementSimulator {
public:
  /// All outlive this. `capacity` is of each device, in bytes.
  PlacementSimulator(StepSimulator &simulator, const OperatorGroups &groups,
                     int64_t capacity);

  /// Seconds, of a placement that fits, of a step.
  double seconds(const Placement &placement);
  /// Whether the last placement fits.
  bool fits() const { return excess == 0; }
  int32_t countDevices() const { return simulator.countDevices(); }
  int64_t countPlacements() const { return placements; }
  Strategies strategiesOf(const Placement &placement) const;

private:
  StepSimulator &simulator;
  const OperatorGroups &groups;
  int64_t capacity, excess = 0, placements = 0;
  Placement current;
  std::vector<Change> changes;
};

struct PlacementResult {
  Placement placement;
  double seconds = 0;
};

Placement drawPlacement(const OperatorGroups &groups, int32_t devices,
                        std::mt19937_64 &random);

/// Moves single groups, and then two at a time that give each other something,
/// to other devices, the best first, while the step gets shorter; at most so
/// many placements.
PlacementResult improvePlacement(PlacementSimulator &simulator,
                                 const OperatorGroups &groups,
                                 PlacementResult from, int64_t most);

/// The best of all placements; with `alike`, devices are, and what differs in
/// their numbers alone is tried once. None if there are more than `most`.
std::optional<PlacementResult> tryPlacements(PlacementSimulator &simulator,
                                             const OperatorGroups &groups,
                                             bool alike, int64_t most);

/// Runs of operators in order, of about equal work, each on a device: what an
/// expert does, a layer a device.
Placement placeRuns(const OperatorGroups &groups, int32_t devices);

/// List scheduling: operators by the longest way to the end, each where it ends
/// first (HEFT; Topcuoglu et al. 2002), with its group.
Placement placeByList(const OperatorGraph &graph, const OperatorGroups &groups,
                      const simulator::Network &network, int32_t devices);

/// The least bytes between devices that each have at most a share of `slack`
/// more than an even part of the work: coarser graphs by the heaviest links,
/// which are refined as in Fiduccia and Mattheyses (1982).
Placement placeByCut(const OperatorGroups &groups, int32_t devices,
                     double slack, uint64_t seed);

/// The bytes between devices.
double cutBytes(const OperatorGroups &groups, const Placement &placement);

} // namespace mlc::planner

#endif // MLC_PLANNER_PLACEMENT_PLACEMENT_H
