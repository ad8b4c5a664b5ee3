//===- StepSchedule.h - The actions of a training step ----------*- C++ -*-===//
//
// A step is a list of actions of this rank. An action runs an entry of the
// artifact, or moves what stages on different ranks carry to each other. The
// trainer does them in this order.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_STEPSCHEDULE_H
#define MLC_RUNTIME_TRAIN_STEPSCHEDULE_H

#include "runtime/train/Stages.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

struct mlc_artifact;

namespace mlc::runtime::train {

struct Action {
  enum Kind : uint8_t {
    /// Runs `entry`.
    Run,
    /// Sends, or receives, what stage `from` has for stage `to`.
    Transfer,
    /// `entry` runs on another rank, which may send results of it here.
    Elsewhere,
    /// Adds up the gradients of stage `from` over the ranks that have it.
    Reduce
  };
  Kind kind = Run;
  /// Its number in the artifact.
  size_t entry = 0;
  /// Which of the step's batches it is about, from 0; nothing: an update.
  std::optional<int64_t> batch = {};
  int64_t from = 0, to = 0;
  /// In asynchronous schedules, of a run: the slot of the version of weights
  /// that it reads; the one that an update writes; and which update of its
  /// stage in the step it is, or gives gradients to, from 0.
  int32_t reads = 0, writes = 0;
  int64_t update = 0;
};

using StepSchedule = std::vector<Action>;

/// The schedule of a training artifact on a rank. In one stage: its first entry
/// for each batch of a step, then "apply" if it has one. In several: on one
/// rank, each batch goes forward through the stages and back; on several, the
/// actions of the artifact's table. Then norms, then updates; an asynchronous
/// table has its own (docs/Pipelines.md).
StepSchedule makeStepSchedule(const Artifact &artifact, const Stages &stages,
                              int rank);

/// "gradients(0 to 3), apply", without transfers; `nameOf` gives the names of
/// entries.
std::string toString(const StepSchedule &schedule,
                     const std::function<std::string(size_t)> &nameOf);

/// The schedule of an artifact that trains or has the stages of a model, as
/// text: its actions, or the table of all ranks; empty for others.
std::string scheduleText(const mlc_artifact &artifact);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STEPSCHEDULE_H
