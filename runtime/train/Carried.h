//===- Carried.h - Values between the entries of a step ---------*- C++ -*-===//
//
// An entry of a stage reads results of other entries for the same micro-batch
// (InputRole::Carried). They are kept from the run that makes them, or from
// their arrival, to the last run that reads them and the last message that
// takes them elsewhere; their memory is used again for other micro-batches.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_CARRIED_H
#define MLC_RUNTIME_TRAIN_CARRIED_H

#include "runtime/schedule/Moves.h"
#include "runtime/train/Program.h"
#include "runtime/train/Stages.h"
#include "runtime/train/SymbolSizes.h"

#include <map>

namespace mlc::runtime::train {

class Carried {
public:
  /// Finds what the entries carry to each other. `ranks` is null for a single
  /// rank; otherwise all ranks call this together, and it opens their channels,
  /// unless `sizes` are given: values of open dims, with the channels open
  /// already. `stages` lives as long as this. Fails if what ranks send has
  /// other open dims.
  Status open(const Artifact &artifact, const Stages &stages, Ranks *ranks,
              const SymbolSizes *sizes = nullptr);

  /// Before a run of the entry for a micro-batch (-1: for an update): binds
  /// what it reads, for which it waits, and memory for what it makes.
  Status bind(size_t entry, OpenEntry &open, int64_t batch);
  /// After that run: keeps what it has made, and releases what all have read.
  Status keep(size_t entry, OpenEntry &open, int64_t batch);

  /// Begins to send or receive what stage `from` has for stage `to`, one of
  /// which this rank has.
  Status transfer(int64_t from, int64_t to, int64_t batch);
  /// The same for the results of an entry that updates.
  Status transferUpdate(size_t entry);
  /// Waits for all messages that this rank sends.
  Status finish();

  /// Forgets the values of a step that has failed, on a single rank.
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
    size_t uses; ///< reads and messages to come
    /// The message that brings it, if it is still waited for.
    std::optional<uint64_t> message;
  };
  /// The way of a value in a replica of the pipeline, as far as this rank is on
  /// it.
  struct Route {
    bool isMadeHere = false;
    std::vector<Use> readers;
    std::vector<schedule::Move>
        moves; ///< from here, or the one that comes here
  };
  struct Value {
    std::string name;
    Use source;
    /// Whether an update makes it, rather than a pass for a micro-batch.
    bool isOfUpdate = false;
    /// For each replica; one for the results of an update.
    std::vector<Route> routes;
    std::vector<HostTensor> buffers;
    std::vector<size_t> free;
    std::map<int64_t, Held> held;
  };
  struct Sent {
    uint64_t message;
    size_t value;
    int64_t batch;
  };

  Status add(const Artifact &artifact, Use source,
             const std::vector<Use> &readers, const SymbolSizes &sizes);
  Route findRoute(const Use &source, const std::vector<Use> &readers,
                  size_t replica) const;
  const Route &routeOf(const Value &value, int64_t batch) const {
    return value.routes[batch < 0 ? 0 : stages->replicaOf(batch)];
  }
  Status allocateFirst(const Artifact &artifact, const Use &reader,
                       const SymbolSizes &sizes, Value &value) const;
  Status acquire(size_t index, int64_t batch, size_t &buffer);
  Status addBuffer(Value &value);
  Status copyFirst(Value &value, const OpenEntry &open, int64_t batch);
  void release(Value &value, int64_t batch);
  Status move(size_t index, const schedule::Move &move, int64_t batch);
  Status reap(bool waits);
  Status awaitOne(size_t index);

  const Stages *stages = nullptr;
  Ranks *ranks = nullptr;
  std::vector<Value> values;
  std::vector<Sent> sent;
  uint64_t allocatedBytes = 0, allocationCount = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_CARRIED_H
