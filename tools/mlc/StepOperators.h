//===- StepOperators.h - The operators of a model's step --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STEPOPERATORS_H
#define MLC_TOOLS_MLC_STEPOPERATORS_H

#include "planner/operators/OperatorGraph.h"
#include "simulator/cluster/Cluster.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// A step of training as planners of operators know it.
struct StepOperators {
  planner::OperatorGraph graph;
  /// Of each device, of those that the graph's times are of.
  std::vector<int32_t> kinds;
  std::string hash; ///< of the model
};

/// Reads the step of a model on one rank, and prices it for each kind of device
/// among the first `devices` ranks of a cluster, of which it has as many. A
/// positive `batch` sets open samples. Fails as
/// readTrainingModel does, and for a model whose dims are open.
llvm::Expected<StepOperators>
readStepOperators(const ModelOptions &model, const TrainingFlags &training,
                  const OptimizerFlags &optimizer, int64_t batch,
                  const simulator::Cluster &cluster, int32_t devices);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STEPOPERATORS_H
