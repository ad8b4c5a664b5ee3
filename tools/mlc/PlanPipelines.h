//===- PlanPipelines.h - Plans that run a model in stages -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANPIPELINES_H
#define MLC_TOOLS_MLC_PLANPIPELINES_H

#include "tools/mlc/Simulate.h"

namespace mlc::cli {

/// The axis that weights are split over, beside those of samples and stages.
inline constexpr const char *kTensorAxis = "tensor";

/// Whether backward passes compute their forward passes again.
enum class Recomputing : uint8_t { WhereNeeded, Never, Always };

/// What to plan, and within which limits.
struct PipelineRequest {
  ModelOptions &model;
  const TrainingFlags &training;
  const OptimizerFlags &optimizer;
  /// Samples of a step; 0: as many as the model's batch, once.
  int64_t samples = 0;
  /// Numbers of micro-batches to try; empty: powers of two that divide.
  std::vector<int64_t> microBatches = {};
  std::string cluster = {}; ///< its name
  int64_t ranks = 1;
  std::vector<std::string> schedules = {}; ///< empty: all synchronous ones
  /// The most timelines for a schedule, on so many copies, with so many
  /// micro-batches; and the most blocks that stages are made of.
  int64_t budget = 0, blocks = 0;
  /// Numbers of ranks to split weights over; empty: powers of two up to the
  /// ranks of a node.
  std::vector<int64_t> parts = {};
  Recomputing recomputing = Recomputing::WhereNeeded;
  /// How weights and tensors are split over so many ranks, for micro-batches of
  /// so many samples.
  std::function<llvm::Expected<std::vector<runtime::TensorSharding>>(
      int64_t parts, int64_t batch)>
      findShardings = nullptr;
};

/// A way to run a step, as it is predicted.
struct PlannedStep {
  runtime::Plan plan;
  /// Samples of a micro-batch, of all copies together.
  int64_t batch = 0;
  simulator::Time span = 0;
  double idle = 0;
  /// Bytes of the rank that has, or sends, most.
  int64_t memory = 0, sent = 0;
  bool fits = true;
  /// Whether the plan itself was simulated, rather than the blocks that its
  /// stages are made of.
  bool isSimulated = false;
  /// The written strategy that it is of; empty: none.
  std::string strategy = {};

  std::string schedule() const;
  int64_t copies() const { return plan.training->ranks; }
};

struct PipelinePlans {
  /// The best first: those that fit, then by time.
  std::vector<PlannedStep> steps;
  /// No pipeline of these blocks, with any of these copies and micro-batches,
  /// takes less.
  simulator::Time bound = 0;
  /// What one rank takes for all, without updates and if memory allowed it.
  simulator::Time onOneRank = 0;
  int64_t timelines = 0;
  size_t blocks = 0;
};

/// Simulates the plan of a step as it is.
llvm::Error simulateStep(const PipelineRequest &request, PlannedStep &step,
                         ArenaSource arenas);

/// Plans steps on all ranks: copies of pipelines with each schedule, weights
/// whole or split over neighbouring ranks, and data parallelism alone. The best
/// are simulated as they are. Fails as simulate() does, and where nothing can
/// be planned. `cluster` is the one of the request, and has as many ranks.
llvm::Expected<PipelinePlans> planPipelines(const PipelineRequest &request,
                                            const simulator::Cluster &cluster);

/// Whether `a` goes before `b`: what fits, then what takes less.
bool isBetter(const PlannedStep &a, const PlannedStep &b);

/// Simulates the step's plan itself, and fills the step with what that gives.
llvm::Error simulateStep(const PipelineRequest &request, PlannedStep &step,
                         ArenaSource arenas);

/// What stages that end with the nodes `ends`, one at least, compute forward
/// and back on the cluster's first rank, for so many samples (0: the model's).
llvm::Expected<std::vector<simulator::Time>>
readStageTimes(const PipelineRequest &request,
               const simulator::Cluster &cluster, int64_t batch,
               llvm::ArrayRef<std::string> ends);

/// Simulates plans as they are, whose steps are one micro-batch of all samples,
/// and adds those that can be.
llvm::Error addPlans(const PipelineRequest &request,
                     std::vector<runtime::Plan> plans, PipelinePlans &found);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANPIPELINES_H
