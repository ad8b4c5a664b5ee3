//===- StepSchedule.h - What a step of training does, in order --*- C++ -*-===//
//
// A step is a list of actions, each of which runs an entry of the artifact. The
// trainer carries out the list and knows no other order.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_STEPSCHEDULE_H
#define MLC_RUNTIME_TRAIN_STEPSCHEDULE_H

#include "runtime/Artifact.h"

#include <optional>
#include <string>
#include <vector>

namespace mlc::runtime::train {

struct Action {
  std::string entry;
  /// Which of the step's batches the entry reads, from 0; nothing: it reads
  /// states alone.
  std::optional<int64_t> batch;
};

using StepSchedule = std::vector<Action>;

/// Of an artifact that trains: its first entry for each batch of a step, then
/// "apply" if it has one.
StepSchedule makeStepSchedule(const Artifact &artifact);

/// "gradients(0 to 3), apply".
std::string toString(const StepSchedule &schedule);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STEPSCHEDULE_H
