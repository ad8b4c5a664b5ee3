//===- PlanBayes.h - A step's settings by Bayesian search -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANBAYES_H
#define MLC_TOOLS_MLC_PLANBAYES_H

#include "tools/mlc/PlanPipelines.h"

namespace mlc::cli {

/// The steps that were simulated, in the order in which they were tried.
struct TriedSteps {
  std::vector<PlannedStep> steps;
  size_t best = 0;  ///< of `steps`
  size_t plans = 0; ///< how many there are to try
};

/// Chooses how copies of a model, and with schedules pipelines, exchange their
/// gradients: buckets, algorithm, micro-batches, ZeRO and its prefetch limit.
/// It simulates `request.budget` plans, which a Gaussian process chooses from
/// `seed` on (planner/bayes), or all if there are no more. The first is plain
/// data parallelism. Fails as simulate() does if no plan can be simulated.
llvm::Expected<TriedSteps> planBayes(const PipelineRequest &request,
                                     const simulator::Cluster &cluster,
                                     uint64_t seed);

/// As one object, or as text: all that were tried with `all`, and the best.
void printTried(const TriedSteps &tried, const std::string &cluster, bool all,
                bool asJson);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANBAYES_H
