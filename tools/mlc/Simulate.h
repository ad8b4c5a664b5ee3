//===- Simulate.h - From a model and a plan to a simulated step -*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SIMULATE_H
#define MLC_TOOLS_MLC_SIMULATE_H

#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/Simulation.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// How the memory of intermediate results is found.
enum class ArenaSource : uint8_t {
  Operators, ///< estimated from shapes
  Kernels,   ///< from the kernels that are made of them, without their code
  Code       ///< from the compiled entries
};

/// What a simulation is of. Without a target of its own, `model` gets that of
/// the cluster's first device.
struct SimulationRequest {
  ModelOptions &model;
  const TrainingFlags &training;
  const OptimizerFlags &optimizer;
  /// Samples of a micro-batch where the model leaves that open, else 0.
  int64_t batch;
  runtime::Plan plan;
  std::string cluster;
  ArenaSource arenas = ArenaSource::Kernels;
  unsigned threads = 1;
};

/// Reads a cluster that has a device for each rank of the plan.
llvm::Expected<simulator::Cluster> readCluster(const std::string &name,
                                               const runtime::Plan &plan);

/// Simulates a step. Fails for a plan without stages on several ranks, for a
/// model that is not the plan's, and where the model cannot be trained so.
llvm::Expected<Simulation> simulate(const SimulationRequest &request);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SIMULATE_H
