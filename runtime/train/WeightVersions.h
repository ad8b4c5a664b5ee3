//===- WeightVersions.h - Versions of the weights of stages -----*- C++ -*-===//
//
// In an asynchronous schedule a stage keeps versions of its weights, each in a
// slot of memory. An update reads one slot and writes another; passes read the
// slot of their version. So nothing is copied.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_WEIGHTVERSIONS_H
#define MLC_RUNTIME_TRAIN_WEIGHTVERSIONS_H

#include "runtime/SharedStates.h"
#include "runtime/train/StepSchedule.h"

namespace mlc::runtime::train {

class WeightVersions {
public:
  /// Gives the states of the rank's stages their slots. `states` lives as long
  /// as this. MLC_BAD_FILE if the artifact's states do not fit the table.
  Status open(const Artifact &artifact, const Stages &stages, int rank,
              SharedStates &states);
  /// Before the run of an action: chooses what it reads and writes.
  void choose(const Action &action);
  /// After a step: the newest version is the state's value, and version 0 of
  /// the next step.
  void finish();

  /// The state that updates write instead of `state`, if it has versions.
  std::optional<size_t> nextOf(size_t state) const;
  /// Bytes of memory for versions besides the states' own.
  uint64_t bytes() const { return extraBytes; }

private:
  struct Kept {
    int64_t stage;
    size_t state, next;
    int32_t newest; ///< its slot after a step
  };
  SharedStates *states = nullptr;
  /// Of this rank.
  std::vector<Kept> all;
  /// Of all ranks: the state of each next one.
  std::vector<std::pair<size_t, size_t>> pairs;
  uint64_t extraBytes = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_WEIGHTVERSIONS_H
