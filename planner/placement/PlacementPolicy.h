//===- PlacementPolicy.h - A network that draws placements ------*- C++ -*-===//
//
// A sequence-to-sequence network with attention (Mirhoseini et al. 2017): an
// LSTM reads the groups in order; a second one draws a device for each, reads
// the device that it drew before, and looks back at all groups (Bahdanau et al.
// 2015).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_PLACEMENT_PLACEMENTPOLICY_H
#define MLC_PLANNER_PLACEMENT_PLACEMENTPOLICY_H

#include "planner/placement/Placement.h"

#include <memory>

namespace mlc::planner {

/// What the network reads of groups: one row of numbers about 1 for each.
using GroupFeatures = std::vector<std::vector<double>>;

/// Work, what is sent, place in the order, types of operators, and what a group
/// gives each other one.
GroupFeatures describeGroups(const OperatorGraph &graph,
                             const OperatorGroups &groups);

class PlacementPolicy {
public:
  /// Weights are drawn from `seed`. There is a group at least, and a device.
  PlacementPolicy(const GroupFeatures &features, int32_t devices,
                  int32_t hidden, uint64_t seed);
  ~PlacementPolicy();

  Placement draw(std::mt19937_64 &random) const;
  double logProbability(const Placement &placement) const;
  /// Adds the gradient of a placement's log probability by the parameters,
  /// times `factor`.
  void addGradient(const Placement &placement, double factor,
                   std::vector<double> &gradient) const;

  std::vector<double> &parameters();

private:
  struct State;
  std::unique_ptr<State> state;
};

struct ReinforceOptions {
  uint64_t seed = 0;
  int64_t placements = 3000; ///< that are drawn
  int64_t moves = 20'000;    ///< placements of moves at the end, at most
  int32_t hidden = 32;
  double learningRate = 0.01;
};

/// Learns to draw placements of short steps by REINFORCE (Williams 1992): the
/// square root of a step's time counts, beside its moving average, and Adam
/// climbs. The best placement so far, of those that are `known` and of those
/// drawn, counts like another one that was drawn (self-imitation; Oh et al.
/// 2018). The best of all is improved by moves (improvePlacement). `known` has
/// one at least.
PlacementResult learnPlacement(PlacementSimulator &simulator,
                               const OperatorGraph &graph,
                               const OperatorGroups &groups,
                               const std::vector<Placement> &known,
                               const ReinforceOptions &options);

} // namespace mlc::planner

#endif // MLC_PLANNER_PLACEMENT_PLACEMENTPOLICY_H
