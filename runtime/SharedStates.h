//===- SharedStates.h - What lives across runs ------------------*- C++ -*-===//
//
// The memory of an artifact's states, shared by the sessions that run its
// entries one after another, and the queue that orders their work. What a state
// holds when something fails says docs/States.md.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SHAREDSTATES_H
#define MLC_RUNTIME_SHAREDSTATES_H

#include "runtime/Artifact.h"
#include "runtime/Ranks.h"

#include <map>
#include <memory>

namespace mlc::runtime {

class SharedStates {
public:
  /// `ranks`, whose number is that of the artifact's mesh (checkRanks), may be
  /// null where that is one.
  SharedStates(std::shared_ptr<const Artifact> artifact,
               std::unique_ptr<Queue> queue,
               std::shared_ptr<Ranks> ranks = nullptr);
  /// Waits for what was enqueued. Where a collective has failed, ends all ranks
  /// first: the memory is still theirs.
  ~SharedStates();
  SharedStates(const SharedStates &) = delete;
  SharedStates &operator=(const SharedStates &) = delete;

  /// The same, before memory of a session's own goes that collectives may still
  /// write to. May end the process.
  void abandonRanks();

  Queue &queue() const { return *work; }
  Ranks *ranks() const { return others.get(); }
  /// This rank's on each axis of the mesh.
  const std::vector<int64_t> &coordinates() const { return position; }
  const State &state(size_t index) const { return artifact->states()[index]; }
  size_t count() const { return memory.size(); }
  /// Of this rank's part, which is all of a state that is not split.
  const std::vector<int64_t> &dims(size_t index) const {
    return parts[index].dims;
  }
  uint64_t size(size_t index) const { return parts[index].size; }
  /// What all states take on the device and the host.
  uint64_t bytes() const;

  /// Gives the states memory and their first values, the first time.
  Status place();
  uint8_t *address(size_t index) const { return memory[index].data(); }

  // Around the runs of a program that uses states so:
  /// An error if one that it reads holds nothing.
  Status checkValues(const StateUse &use) const;
  /// A run was handed to the queue which will write some.
  void noteEnqueued(const StateUse &use);
  /// A run has written some.
  void noteWritten(const StateUse &use);
  /// A run that would have written some failed on the way.
  void lose(const StateUse &use);
  /// Waits for all that was enqueued.
  Status wait();
  /// Nothing is enqueued any more, as somebody has waited. What failed takes
  /// the states with it that were to be written.
  void noteFinished(bool succeeded);
  /// A step has waited for a collective on the device's own memory: its outputs
  /// hold anything if it fails, and nobody knows yet how it ends.
  void noteUnsettled(Ranks::Prepared &prepared) {
    unsettled.push_back(&prepared);
  }
  bool isUnsettled(const Ranks::Prepared &prepared) const;
  /// Waits for these, and tells how they have ended. When the queue's work is
  /// done they are, but for that.
  Status settle();
  /// How often that has failed.
  uint64_t failures() const { return failureCount; }

  // For the caller, between runs:
  Status set(size_t index, DType type, size_t rank, const int64_t *dims,
             const void *data, mlc_space space);
  /// What it holds, where the host can read it; until the next change.
  Status read(size_t index, mlc_tensor &tensor);
  /// The values that the artifact has for them, or none.
  Status reset();
  /// A .npz file that holds each by its name; whole or as it was before.
  Status save(const char *path);
  /// All of them from such a file; none where something is wrong with it.
  Status load(const char *path);

private:
  Status checkIndex(size_t index) const;
  Status checkHeld(size_t index) const;
  Status initialize(size_t index);
  Status fillZeros(size_t index);
  Status storePart(size_t index);

  std::shared_ptr<const Artifact> artifact;
  std::unique_ptr<Queue> work;
  std::shared_ptr<Ranks> others;
  std::vector<int64_t> position;
  struct Part {
    std::vector<PartRange> ranges;
    std::vector<int64_t> dims;
    uint64_t size;
  };
  std::vector<Part> parts;
  std::vector<DeviceMemory> memory;
  /// Whether each holds a value, and whether it was lost in a failed run.
  std::vector<uint8_t> held, lost;
  /// What runs that were enqueued write.
  std::vector<uint8_t> pending;
  std::vector<Ranks::Prepared *> unsettled;
  bool isPlaced = false, isEnqueued = false;
  uint64_t failureCount = 0;
  /// The host's copies of what was read, where it cannot follow addresses.
  std::map<size_t, Memory> mirrors;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_SHAREDSTATES_H
