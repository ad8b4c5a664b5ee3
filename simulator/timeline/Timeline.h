//===- Timeline.h - When the actions of a table run -------------*- C++ -*-===//
//
// Each rank computes in the order of its list. A transfer runs beside
// computation, on a channel from a rank to another that does one after the
// other: it begins when the sender has come to the send and the receiver to the
// receive. In a table without transfers it begins when its data are there.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_TIMELINE_TIMELINE_H
#define MLC_SIMULATOR_TIMELINE_TIMELINE_H

#include "runtime/schedule/Transfers.h"
#include "simulator/timeline/Tasks.h"

#include <functional>

namespace mlc::simulator {

/// What the actions of a stage take. B takes input + weight.
struct StageTimes {
  Time forward = 1, input = 1, weight = 1, step = 0;
};

struct TimelineOptions {
  /// One for all stages, or one for each.
  std::vector<StageTimes> stages = {StageTimes()};
  /// Instead of `stages`, the time of an F, I, W or STEP; B is asked for as an
  /// I and a W. So slices may take times of their own.
  std::function<Time(const runtime::schedule::Action &)> compute;
  /// The bytes of a message, by its send; empty: 0.
  std::function<int64_t(const runtime::schedule::Action &send)> bytes;
  /// The time of a message of a stage between two ranks; empty: 0.
  std::function<Time(int32_t stage, int64_t bytes, int32_t from, int32_t to)>
      transfer;
  /// The time of REDUCE_GRAD and UNSHARD; empty: 0.
  std::function<Time(const runtime::schedule::Action &)> collective;
  /// The time of two actions that overlap, from their own; empty: they run one
  /// after the other.
  std::function<Time(Time, Time)> overlap;
  /// Messages travel whether or not the receiver has come to the receive.
  bool isEager = false;
  /// Which stages read which; empty: each the one before it.
  std::vector<runtime::schedule::Reading> reads;
};

struct Interval {
  Time start = 0, end = 0;
};

/// A message and the actions that it belongs to: the send and the receive, or,
/// in a table without transfers, what makes and what needs the data.
struct TransferTime {
  int32_t from, to;           ///< ranks
  int32_t fromIndex, toIndex; ///< in their lists
  bool isForward;
  int64_t bytes;
  Interval time;
};

/// A share as a fraction in lowest terms.
struct Share {
  int64_t part = 0, whole = 1;

  double value() const { return double(part) / double(whole); }
  bool operator==(const Share &other) const {
    return part == other.part && whole == other.whole;
  }
};

/// In lowest terms. What does not fit is rounded.
Share makeShare(__int128 part, __int128 whole);

struct Timeline {
  /// Of each action of each rank. What takes no time (RESHARD, waits) stands
  /// where its rank has come to it. Transfers have the times of their messages.
  std::vector<std::vector<Interval>> ranks;
  std::vector<TransferTime> transfers;
  /// From 0 to the end of all.
  Time span = 0;
  /// What each rank computes.
  std::vector<Time> busy;

  Share idle(int32_t rank) const;
  /// Of all ranks together.
  Share idle() const;
};

/// A table as tasks. A search changes durations of tasks, and updates.
class TableTasks {
public:
  /// MLC_BAD_FILE names rank and action, if one runs twice, needs what no rank
  /// runs, or waits for itself (check() says more). Tables of more stages,
  /// micro-batches and slices than their actions can be about are refused.
  static runtime::Status make(const runtime::schedule::Table &table,
                              const TimelineOptions &options,
                              TableTasks &tasks);

  /// The task of a rank's action; actions that overlap share one.
  TaskId taskOf(int32_t rank, size_t index) const {
    return taskIds[size_t(rank)][index];
  }
  TaskGraph &graph() { return tasks; }
  /// The present times.
  Timeline read() const;

private:
  friend class TableTasksBuilder;
  TaskGraph tasks;
  /// kNoTask for actions that take no time: `standsAfter` is the task before.
  std::vector<std::vector<TaskId>> taskIds, standsAfter;
  std::vector<TransferTime> transfers;
  std::vector<TaskId> transferIds;
};

/// The times of a table: TableTasks::make() and read().
runtime::Status makeTimeline(const runtime::schedule::Table &table,
                             const TimelineOptions &options,
                             Timeline &timeline);

/// How many activations a rank keeps from when on: from the begin of F to the
/// end of B or W. Counts change at rising times.
struct Kept {
  Time time;
  int64_t count;
};
std::vector<Kept> activationsOverTime(const runtime::schedule::Table &table,
                                      const Timeline &timeline, int32_t rank);

/// When a rank computes nothing, up to the end of all.
std::vector<Interval> bubbles(const runtime::schedule::Table &table,
                              const Timeline &timeline, int32_t rank);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_TIMELINE_H
