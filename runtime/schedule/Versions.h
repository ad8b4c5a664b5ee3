//===- Versions.h - Versions of weights that a table needs ------*- C++ -*-===//
//
// An asynchronous table updates weights while micro-batches are under way
// (docs/Schedules.md). This says how many versions of a stage's weights are
// kept at once, and where each is.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_VERSIONS_H
#define MLC_RUNTIME_SCHEDULE_VERSIONS_H

#include "runtime/schedule/Check.h"

namespace mlc::runtime::schedule {

/// Whether passes read weights that an update of the same table has made: one
/// names a later version than 0, or follows an update of its stage on its rank.
bool isAsynchronous(const Table &table);

/// The versions of a stage's weights, and its updates.
struct StageVersions {
  /// Versions that are kept at once. 1: each update takes the place of the
  /// version before.
  int32_t slots = 1;
  /// The slot of each version, from 0; version 0 is in slot 0.
  std::vector<int32_t> slotOf = {0};
  /// How many gradients each update sums, of all ranks. Update k makes version
  /// k + 1.
  std::vector<int64_t> gradients;
  /// The update that the gradient of each micro-batch is part of.
  std::vector<int32_t> updateOf;
};

/// For each stage of an asynchronous table that has passed check(). An update
/// needs a free slot unless no later pass reads the version before it. Ranks
/// that share a stage have the same slots, and an update has the gradients of
/// all of them. MLC_UNSUPPORTED if a stage has slices,
/// MLC_BAD_FILE if not all of its ranks update it as often.
Status findVersions(const Table &table, std::vector<StageVersions> &stages);

/// check(), where an asynchronous table may keep any promise of an asynchronous
/// schedule, instead of that of `options`.
Status checkPromises(const Table &table, CheckOptions options);

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_VERSIONS_H
