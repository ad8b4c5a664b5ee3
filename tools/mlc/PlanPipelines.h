//===- PlanPipelines.h - Plans that run a model in stages -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANPIPELINES_H
#define MLC_TOOLS_MLC_PLANPIPELINES_H

#include "tools/mlc/PlanRequest.h"

namespace mlc::cli {

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

/// Simulates plans as they are, whose steps are one micro-batch of all samples,
/// and adds those that can be.
llvm::Error addPlans(const PipelineRequest &request,
                     std::vector<runtime::Plan> plans, PipelinePlans &found);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANPIPELINES_H
