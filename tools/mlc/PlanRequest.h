//===- PlanRequest.h - What pipelines are planned of ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANREQUEST_H
#define MLC_TOOLS_MLC_PLANREQUEST_H

#include "tools/mlc/Simulate.h"
#include <functional>

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

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANREQUEST_H
