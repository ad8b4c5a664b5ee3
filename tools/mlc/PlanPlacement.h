//===- PlanPlacement.h - Which device runs which operator -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANPLACEMENT_H
#define MLC_TOOLS_MLC_PLANPLACEMENT_H

#include "tools/mlc/StepOperators.h"

namespace mlc::cli {

enum class PlacementPlanner : uint8_t { List, MinCut, Reinforce };

struct PlacementRequest {
  ModelOptions &model;
  const TrainingFlags &training;
  const OptimizerFlags &optimizer;
  std::string cluster; ///< its name
  int64_t ranks = 1, samples = 0;
  PlacementPlanner planner = PlacementPlanner::List;
  int64_t budget = 0; ///< of placements; 0: the planner's own
  int64_t groups = 0; ///< at most; 0: 20 for each rank, up to 256
  uint64_t seed = 0;
  std::string output; ///< the plan's file, or empty
  bool compares = false, asJson = false;
};

/// Places each group of operators on a rank (planner/placement), prints what
/// that takes, and writes the plan where each rank has operators in a row.
llvm::Error planPlacement(const PlacementRequest &request,
                          const simulator::Cluster &cluster);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANPLACEMENT_H
