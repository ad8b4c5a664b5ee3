//===- Check.h - Tables that cannot run, or not as promised, are refused --===//
//
// Looks at a whole table before anything runs. It reads the table only, so it
// serves tables of our generators, of PyTorch and of people alike
// (docs/Schedules.md, "What is checked").
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_CHECK_H
#define MLC_RUNTIME_SCHEDULE_CHECK_H

#include "runtime/schedule/Generate.h"
#include "runtime/schedule/Transfers.h"
#include <functional>

namespace mlc::runtime::schedule {

/// Which version of a stage's weights the actions of a micro-batch read.
struct Promise {
  enum Kind : uint8_t {
    /// All read the weights from before the step, and one update follows.
    Synchronous,
    /// PipeDream: the forward pass reads the newest version, the backward pass
    /// of a micro-batch that of its forward pass.
    Stashing,
    /// PipeDream-2BW: micro-batch k, from 0, reads version max(k / m - 1, 0) in
    /// both passes, where m micro-batches make an update.
    TwoVersions,
    /// AMPNet: every action reads the newest version.
    BoundedStaleness,
  };
  Kind kind = Synchronous;
  /// Stashing: the most versions that a stage keeps; kNone: as many as there
  /// are stages from this one on. BoundedStaleness: the most updates between
  /// the forward and the backward pass of a micro-batch; kNone: any number.
  int32_t most = kNone;
  /// TwoVersions: the micro-batches of an update; kNone: those before the
  /// first.
  int32_t perUpdate = kNone;
};

/// What the table has to be. kNone and false: what the table itself says.
struct CheckOptions {
  Promise promise;
  int32_t stages = kNone, microBatches = kNone, slices = kNone;
  /// Which stages read which; empty: each the one before it, and those that its
  /// transfers name.
  std::vector<Reading> reads;
  /// Every micro-batch has a backward pass, though the table may have none.
  bool isTraining = false;
  /// Every stage is updated this many times; kNone: all alike.
  int32_t updates = kNone;
  /// In which order of micro-batches a rank adds a stage's gradients, slices
  /// always from the last to the first. Tables of one order have the same sums,
  /// bit for bit.
  enum SumOrder : uint8_t { AnyOrder, Rising, Falling };
  SumOrder sumOrder = AnyOrder;
  /// The most micro-batches (or slices) of a stage whose activations a rank
  /// keeps from the forward pass to the end of the backward pass.
  int32_t slots = kNone;
  /// Sends and sums of gradients go on while the rank does, as PyTorch's do.
  /// Else a send ends when its receive has begun: nothing is buffered.
  bool isBuffered = false;
  /// The bytes that `rank` sends or receives by a transfer. Both sides are
  /// asked and compared. Empty: all fit.
  std::function<int64_t(int32_t rank, const Action &transfer)> bytes;
};

/// Where a table is wrong. A missing action has the index at which its rank
/// ends.
struct Fault {
  int32_t rank = 0;
  int64_t index = 0;
};

/// MLC_BAD_FILE with a message "rank 1, cell 7, 3SEND_B0: what; remedy" for the
/// first of:
/// - numbers out of range, slices beside whole micro-batches;
/// - a forward or backward pass that is missing, twice, before what it needs,
///   or on another rank than the forward pass; overlaps of what depends;
/// - an update before its gradients, without a sum over the stage's ranks, or
///   missing; another version than promised;
/// - weights used while sharded;
/// - a slot that is written while it is needed;
/// - in tables with transfers: transfers that are missing, twice, without
///   partner, misordered between two ranks, or of another size;
/// - collectives of a stage on a part of its ranks or in different orders;
/// - a deadlock: the ranks that wait for each other are named.
/// Time is linear in the actions (times the stages that one reads).
Status check(const Table &table, const CheckOptions &options = {},
             Fault *fault = nullptr);

/// What a named schedule promises of `table`, which it generated, perhaps with
/// transfers and updates added.
CheckOptions promisesOf(const ScheduleOptions &schedule, const Table &table);

/// The most micro-batches (or slices) whose activations each rank keeps at
/// once, over its stages: from F to B, or to W. The table has passed check().
std::vector<int64_t> activationsInFlight(const Table &table);

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_CHECK_H
