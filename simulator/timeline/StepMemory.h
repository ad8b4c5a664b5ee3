//===- StepMemory.h - What a step in stages allocates -----------*- C++ -*-===//
//
// The memory of each rank in its first step, action by action; later steps use
// it again. The trainer (runtime/train) takes these bytes, and no others. An
// entry's arena and a state are taken where the entry runs first. What entries
// carry to each other has as many places as micro-batches wait at one time, and
// two for messages.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_TIMELINE_STEPMEMORY_H
#define MLC_SIMULATOR_TIMELINE_STEPMEMORY_H

#include "runtime/schedule/StageEntry.h"

#include <span>
#include <string>
#include <vector>

namespace mlc::simulator {

using runtime::schedule::StageEntry;

/// The entries of a step, in bytes.
struct StepMemory {
  struct Entry {
    StageEntry entry;
    int64_t arena = 0;   ///< its intermediate results
    int64_t scratch = 0; ///< of all threads
  };
  /// What an entry carries to others.
  struct Value {
    StageEntry source;
    std::vector<StageEntry> readers;
    int64_t bytes = 0;
  };
  /// A weight, an optimizer's state, a sum of gradients.
  struct State {
    std::vector<StageEntry> users;
    int64_t bytes = 0;
    /// A sum of gradients that this stage adds to; -1: none.
    int64_t sumOf = -1;
    /// The stage of ZeRO from which ranks that share a batch have a part each;
    /// 4: they never do.
    int sharedFrom = 4;
  };
  std::vector<Entry> entries;
  std::vector<Value> values;
  std::vector<State> states;
  /// The inputs of a micro-batch, which each rank has.
  int64_t samples = 0;

  /// The memory of fewer stages, as StepCosts::join() has them. I and W are
  /// one entry B unless `splitsBackward`. What an entry of several stages needs
  /// for intermediate results is estimated: the most of one of them, and what
  /// they give each other.
  StepMemory join(std::span<const size_t> ends, bool splitsBackward) const;
  /// With states shared by so many ranks, by the stage of ZeRO.
  StepMemory share(int zero, int64_t ranks) const;
};

/// Bytes by what they are for.
struct MemoryParts {
  int64_t states = 0, arenas = 0, carried = 0;
  int64_t sums = 0; ///< copies of gradients that several ranks add up
  int64_t samples = 0, scratch = 0;

  int64_t total() const {
    return states + arenas + carried + sums + samples + scratch;
  }
};

struct RankMemory {
  struct Point {
    /// "2F0", or "3STEP"; empty before the first action.
    std::string action;
    /// Its place in the rank's list; -1 if the table leaves it out.
    int64_t index = -1;
    /// What has been taken so far.
    MemoryParts allocated;
    /// States and sums that are there, values that are waited for, and the
    /// arena of the entry that runs.
    int64_t inUse = 0;
  };
  /// One for each action that computes, sends, receives or adds up.
  std::vector<Point> points;

  const MemoryParts &parts() const { return points.back().allocated; }
  /// The first of the points at which most is in use.
  const Point &peak() const;
  /// The first point at which more than `bytes` are allocated; null if none.
  const Point *findBeyond(int64_t bytes) const;
};

/// The memory of each rank; `table` has its transfers (addTransfers()).
std::vector<RankMemory> findMemory(const runtime::schedule::Table &table,
                                   const StepMemory &step);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_STEPMEMORY_H
