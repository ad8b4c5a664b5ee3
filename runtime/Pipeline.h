//===- Pipeline.h - A model in stages, as an artifact has it ----*- C++ -*-===//

#ifndef MLC_RUNTIME_PIPELINE_H
#define MLC_RUNTIME_PIPELINE_H

#include "runtime/mlc_runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlc::runtime {

/// An input or output of the whole model. Its dims are those of a whole batch.
struct PipelinePort {
  std::string name;
  mlc_dtype type = MLC_F32;
  std::vector<int64_t> dims;      ///< -1: open
  std::vector<std::string> texts; ///< of the dims
  /// Whether each micro-batch has a part, along the first dim; else all have
  /// the whole.
  bool isDivided = false;
};

/// The entries of the artifact are the stages of a model without training,
/// "0F", "1F", ... (docs/Pipelines.md). What one reads of another has the role
/// Carried.
struct Pipeline {
  int64_t stages = 1;
  int64_t microBatches = 1;
  /// How many ranks run the stages; one can, too, in turn.
  int64_t ranks = 1;
  /// For several ranks, the table of actions, a line for each; transfers may be
  /// left out.
  std::string schedule;
  /// In the model's order. Each is an input of any entries, each output one of
  /// one entry.
  std::vector<PipelinePort> inputs, outputs;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PIPELINE_H
