//===- PlanOperators.h - Which devices share which operator -----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANOPERATORS_H
#define MLC_TOOLS_MLC_PLANOPERATORS_H

#include "tools/mlc/StepOperators.h"

namespace mlc::cli {

struct OperatorRequest {
  ModelOptions &model;
  const TrainingFlags &training;
  const OptimizerFlags &optimizer;
  std::string cluster; ///< its name
  int64_t ranks = 1, samples = 0;
  bool isMcmc = false;
  int64_t budget = 0; ///< of proposals; 0: the planner's own
  uint64_t seed = 0;
  std::string output; ///< the plan's file, or empty
  bool compares = false, asJson = false;
};

/// Plans strategies of operators (planner/operators), prints them, and writes
/// the plan where plans can say it.
llvm::Error planOperators(const OperatorRequest &request,
                          const simulator::Cluster &cluster);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANOPERATORS_H
