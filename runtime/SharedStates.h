//===- SharedStates.h - States that live across runs ------------*- C++ -*-===//
//
// The memory of an artifact's states, shared by the sessions that run its
// entries one after another, and the queue that orders their work.
// docs/States.md says what a state holds after a failure.
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
  /// The number of `ranks` is that of the artifact's mesh (checkRanks); null
  /// for a single rank.
  SharedStates(std::shared_ptr<const Artifact> artifact,
               std::unique_ptr<Queue> queue,
               std::shared_ptr<Ranks> ranks = nullptr);
  /// Waits for enqueued runs. After a failed collective it first ends all
  /// ranks, since they may still write to the memory.
  ~SharedStates();
  SharedStates(const SharedStates &) = delete;
  SharedStates &operator=(const SharedStates &) = delete;

  /// Ends all ranks after a failed collective, before a session frees memory
  /// that collectives may still write to. May end the process.
  void abandonRanks();

  Queue &queue() const { return *work; }
  Ranks *ranks() const { return others.get(); }
  /// This rank's coordinate on each axis of the mesh.
  const std::vector<int64_t> &coordinates() const { return position; }
  const State &state(size_t index) const { return artifact->states()[index]; }
  size_t count() const { return memory.size(); }
  /// The dims of this rank's shard, or of the whole state if it is not split.
  const std::vector<int64_t> &dims(size_t index) const {
    return parts[index].dims;
  }
  uint64_t size(size_t index) const { return parts[index].size; }
  /// Bytes that all states take on the device and the host.
  uint64_t bytes() const;

  /// Gives the states that a program uses memory and their initial values,
  /// unless they have memory. Others take none.
  Status place(const StateUse &use);
  uint8_t *address(size_t index) const { return addresses[index]; }
  /// Changes with every address.
  uint64_t stamp() const { return addressStamp; }

  /// Gives state `index` `count` slots, memory for versions of its value, which
  /// is now in slot 0. State `next`, of the same type and dims, shares them
  /// instead of having memory, and is in slot 1.
  Status addSlots(size_t index, size_t next, size_t count);
  /// The value of `state`, which is `index` or shares its slots, is that of a
  /// slot.
  void chooseSlot(size_t state, size_t index, size_t slot);
  /// Exchanges two slots, with their values.
  void exchangeSlots(size_t index, size_t a, size_t b);

  // Called around the runs of a program that uses states according to `use`:
  /// An error if a state that it reads has no value.
  Status checkValues(const StateUse &use) const;
  /// A run that will write states was handed to the queue.
  void noteEnqueued(const StateUse &use);
  /// A run has written states.
  void noteWritten(const StateUse &use);
  /// A run that writes states failed on the way.
  void lose(const StateUse &use);
  /// Waits for all enqueued runs.
  Status wait();
  /// Called after a wait: nothing is enqueued any more. After a failure, the
  /// states that were to be written are lost.
  void noteFinished(bool succeeded);
  /// A step has waited for a collective on the device's own memory, which may
  /// still fail and leave its outputs undefined.
  void noteUnsettled(Ranks::Prepared &prepared) {
    unsettled.push_back(&prepared);
  }
  bool isUnsettled(const Ranks::Prepared &prepared) const;
  /// Waits for these collectives and returns their status. Once the queue's
  /// work is done, only the status is outstanding.
  Status settle();
  /// How often settle() has failed.
  uint64_t failures() const { return failureCount; }

  // For the caller, between runs:
  Status set(size_t index, DType type, size_t rank, const int64_t *dims,
             const void *data, mlc_space space);
  /// The state's value in host memory, valid until the next change.
  Status read(size_t index, mlc_tensor &tensor);
  /// Resets all states to the artifact's values, or to none.
  Status reset();
  /// Writes all states by name to a .npz file, atomically.
  Status save(const char *path);
  /// Loads all states from such a file, or none on an error.
  Status load(const char *path);

private:
  Status place(size_t index);
  Status placeAll();
  uint8_t *slotAddress(size_t index, size_t slot) const {
    return slot == 0 ? memory[index].data() : slots.at(index)[slot - 1].data();
  }
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
  /// The memory of slots from 1 on, of states that have them.
  std::map<size_t, std::vector<DeviceMemory>> slots;
  /// Where each state is now.
  std::vector<uint8_t *> addresses;
  uint64_t addressStamp = 1;
  /// For each state: whether it has memory, whether it has a value, and whether
  /// a failed run lost it.
  std::vector<uint8_t> placed, held, lost;
  /// States that enqueued runs write.
  std::vector<uint8_t> pending;
  std::vector<Ranks::Prepared *> unsettled;
  bool isEnqueued = false;
  uint64_t failureCount = 0;
  /// The host's copies of states that were read, if it cannot read the device's
  /// memory.
  std::map<size_t, Memory> mirrors;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_SHAREDSTATES_H
