//===- StagePlanner.h - Stages and replicas of a chain of layers *- C++ -*-===//
//
// Divides a chain of layers into stages and gives each a number of ranks that
// share its micro-batches, so that the slowest stage is as fast as possible:
// the dynamic program of PipeDream (Narayanan et al. 2019, section 3.1), on
// levels of machines as there.
//
// A stage of T seconds with W bytes of weights on r ranks, whose links have B
// bytes a second, takes (T + 4 (r - 1) / r * W / B) / r for a micro-batch. Its
// ranks exchange their gradients meanwhile. A tensor of A bytes before or
// behind it takes 2 A / B / r, forward and back.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_STAGES_STAGEPLANNER_H
#define MLC_PLANNER_STAGES_STAGEPLANNER_H

#include "planner/stages/Layers.h"

namespace mlc::planner {

/// Machines of a level: each has `count` of the level below, which links of so
/// many bytes a second connect. Innermost first.
struct MachineLevel {
  int count = 1;
  double bytesPerSecond = 0;
};

struct PlannedStage {
  size_t begin = 0, end = 0; ///< layers of the chain
  /// How many of the level's machines share the stage's micro-batches.
  int replicas = 1;
  /// On levels above the first: the stages inside each of these machines.
  std::vector<PlannedStage> inner = {};
};

struct StageDivision {
  std::vector<PlannedStage> stages;
  /// What the slowest stage, or transfer, takes for a micro-batch.
  double seconds = 0;
};

/// What a stage takes at least for a micro-batch: `seconds` on one machine,
/// `weightBytes` of weights, and `inputBytes` and `outputBytes` of tensors
/// around it, 0 at the ends of the network.
double secondsOfStage(double seconds, double weightBytes, double inputBytes,
                      double outputBytes, int replicas, double bytesPerSecond);

/// About how many steps divideStages takes: for n layers and m machines n^2 m^2
/// on the outermost level, and n^3 m^2 on each level below.
double stepsToDivide(size_t layers, const std::vector<MachineLevel> &levels);

/// The best division of the chain among all machines of the outermost level.
/// All are used. `layers` and `levels` are not empty, and bandwidths are
/// positive.
StageDivision divideStages(const std::vector<Layer> &layers,
                           const std::vector<MachineLevel> &levels);

} // namespace mlc::planner

#endif // MLC_PLANNER_STAGES_STAGEPLANNER_H
