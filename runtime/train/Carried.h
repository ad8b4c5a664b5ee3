//===- Carried.h - Values between the entries of a step ---------*- C++ -*-===//
//
// An entry of a stage reads results of other entries for the same micro-batch
// (InputRole::Carried). They are kept from the run that makes them to the last
// one that reads them; their memory is used again for other micro-batches.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_CARRIED_H
#define MLC_RUNTIME_TRAIN_CARRIED_H

#include "runtime/train/Program.h"

#include <map>

namespace mlc::runtime::train {

class Carried {
public:
  /// Finds what the entries of a step, by their numbers in the artifact, carry
  /// to each other.
  void find(const Artifact &artifact, const std::vector<size_t> &entries);

  /// Before a run of the entry for a micro-batch (-1: for an update): binds
  /// what it reads, and memory for what it makes.
  Status bind(size_t entry, OpenEntry &open, int64_t batch);
  /// After that run: keeps what it has made, and releases what all have read.
  Status keep(size_t entry, OpenEntry &open, int64_t batch);
  /// Forgets the values of a step that has failed.
  void clear();

  /// Bytes of the values' memory.
  uint64_t bytes() const { return allocatedBytes; }
  /// How often memory was allocated.
  uint64_t allocations() const { return allocationCount; }

private:
  struct Use {
    size_t entry, port;
  };
  /// A value for a micro-batch.
  struct Held {
    size_t buffer;
    size_t readers; ///< runs that have yet to read it
  };
  struct Value {
    Use source;
    std::vector<Use> readers;
    std::vector<HostTensor> buffers;
    std::vector<size_t> free;
    std::map<int64_t, Held> held;
  };

  Status acquire(Value &value, int64_t batch, size_t &buffer);
  Status copyFirst(Value &value, const OpenEntry &open, int64_t batch);

  std::vector<Value> values;
  uint64_t allocatedBytes = 0, allocationCount = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_CARRIED_H
