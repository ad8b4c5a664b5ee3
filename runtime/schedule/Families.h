//===- Families.h - The functions behind the names of schedules -*- C++ -*-===//
//
// Each makes the table of one schedule. Its sizes are checked by generate();
// what only this schedule refuses is an error of its function.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_FAMILIES_H
#define MLC_RUNTIME_SCHEDULE_FAMILIES_H

#include "runtime/schedule/Table.h"

namespace mlc::runtime::schedule {

/// ScheduleOptions with everything said; all are at least 1.
struct Sizes {
  int32_t stages, ranks, chunks, microBatches, slices, updateEvery, inFlight;
  /// The ranks of each stage, of schedules with one stage a rank.
  std::vector<int32_t> replicas;
};

/// What a rank does of a stage that it may share with others: every `step`-th
/// micro-batch, from `first` on.
struct StageShare {
  int32_t stage, first, step;
  /// The ranks of this stage and of those after it.
  int32_t ranksFromHere;

  /// Its micro-batches, of `all`.
  int32_t count(int32_t all) const { return (all - first + step - 1) / step; }
};

/// The shares of all ranks, in their order: those of a stage follow each other.
std::vector<StageShare> sharesOf(const Sizes &sizes);

// Synchronous.cpp
Status makeDataParallel(const Sizes &sizes, Table &table);
Status makeGpipe(const Sizes &sizes, Table &table);
Status makeOneForwardOneBackward(const Sizes &sizes, Table &table);
Status makeInterleaved(const Sizes &sizes, Table &table);
Status makeBreadthFirst(const Sizes &sizes, Table &table);
Status makeTerapipe(const Sizes &sizes, Table &table);
Status makeChimera(const Sizes &sizes, Table &table);

// ZeroBubble.cpp
Status makeZeroBubble(const Sizes &sizes, Table &table);
Status makeZeroBubbleV(const Sizes &sizes, Table &table);

// Asynchronous.cpp
Status makeAmpnet(const Sizes &sizes, Table &table);
Status makePipedream(const Sizes &sizes, Table &table);
Status makePipedream2bw(const Sizes &sizes, Table &table);

/// In which order a rank with several stages runs forwards and backwards: in
/// rounds of `size` micro-batches, each through all of its stages. Stages of a
/// rank are apart by the number of ranks.
struct Rounds {
  int32_t ranks, chunks, size;

  /// The rounds that serve the sizes; an error if rounds are uneven.
  static Status of(const Sizes &sizes, Rounds &rounds);

  int32_t microBatch(int64_t index) const {
    return int32_t(index / (int64_t(size) * chunks) * size + index % size);
  }
  /// The stage of the index-th forward of the rank, and of the index-th
  /// backward.
  int32_t forwardStage(int64_t index, int32_t rank) const {
    return int32_t(index / size % chunks) * ranks + rank;
  }
  int32_t backwardStage(int64_t index, int32_t rank) const {
    return (chunks - 1 - int32_t(index / size % chunks)) * ranks + rank;
  }
};

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_FAMILIES_H
