//===- StepSchedule.h - The actions of a training step ----------*- C++ -*-===//
//
// A step is a list of actions, each of which runs an entry of the artifact. The
// trainer runs them in this order.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_STEPSCHEDULE_H
#define MLC_RUNTIME_TRAIN_STEPSCHEDULE_H

#include "runtime/Artifact.h"

#include <optional>
#include <string>
#include <vector>

struct mlc_artifact;

namespace mlc::runtime::train {

struct Action {
  /// Its number in the artifact.
  size_t entry;
  /// Which of the step's batches the entry reads, from 0; nothing: only states.
  std::optional<int64_t> batch;
};

using StepSchedule = std::vector<Action>;

/// The schedule of a training artifact. In one stage: its first entry for each
/// batch of a step, then "apply" if it has one. In several: each batch goes
/// forward through the stages and back; then norms, then updates
/// (docs/Pipelines.md).
StepSchedule makeStepSchedule(const Artifact &artifact);

/// "gradients(0 to 3), apply".
std::string toString(const Artifact &artifact, const StepSchedule &schedule);

/// The schedule of an artifact that trains, as text; empty for others.
std::string scheduleText(const mlc_artifact &artifact);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STEPSCHEDULE_H
