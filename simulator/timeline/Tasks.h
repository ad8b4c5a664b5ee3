//===- Tasks.h - Tasks on queues, simulated in full or where changed
//-------===//
//
// A task takes a time. It begins when the tasks before it have ended and the
// one before it in its queue has: a queue is a device or a channel, which does
// one after the other in a given order. Times are integers, so a simulation of
// what a change touches (*delta*) has every bit of a full one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_TIMELINE_TASKS_H
#define MLC_SIMULATOR_TIMELINE_TASKS_H

#include "simulator/cluster/Time.h"

#include <cstdint>
#include <vector>

namespace mlc::simulator {

using TaskId = int32_t;
using QueueId = int32_t;
inline constexpr int32_t kNoTask = -1, kNoQueue = -1;

/// Built by add() and addEdge(), simulated by simulate(); then changed by
/// change...() functions and brought up to date by update(). Sums of durations
/// fit into Time.
class TaskGraph {
public:
  QueueId addQueue();
  /// A task at the end of a queue. In no queue it waits for its edges alone,
  /// and is not part of span().
  TaskId add(QueueId queue, Time duration);
  /// `after` waits for `before`. The same edge may be added twice, and is then
  /// removed twice.
  void addEdge(TaskId before, TaskId after);

  /// Gives all tasks their times. False if tasks wait for each other in a
  /// circle; then they have none.
  bool simulate();
  /// After simulate() has returned false: a task that can never begin, the
  /// first of all, and one that it waits for and that cannot begin either.
  TaskId firstStuck() const;
  TaskId stuckBefore(TaskId task) const;

  void changeDuration(TaskId task, Time duration);
  /// False, and nothing is changed, if the edge would close a circle.
  bool changeAddEdge(TaskId before, TaskId after);
  /// One of the edges between the tasks, which exists.
  void changeRemoveEdge(TaskId before, TaskId after);
  /// Takes the task out of its queue and puts it behind `previous` in `queue`
  /// (kNoTask: at its begin), or in no queue. False, and nothing is changed, if
  /// a circle would be closed. `previous` is another task of that queue.
  bool changeQueue(TaskId task, QueueId queue, TaskId previous);

  /// Gives the tasks that changes touched their times; returns how many were
  /// looked at.
  int64_t update();

  Time start(TaskId task) const { return starts[size_t(task)]; }
  Time end(TaskId task) const {
    return starts[size_t(task)] + durations[size_t(task)];
  }
  Time duration(TaskId task) const { return durations[size_t(task)]; }
  /// When the last task of any queue ends.
  Time span() const;
  int32_t size() const { return int32_t(durations.size()); }
  QueueId queueOf(TaskId task) const { return queues[size_t(task)]; }
  TaskId previousInQueue(TaskId task) const { return previous[size_t(task)]; }
  TaskId lastOf(QueueId queue) const { return lasts[size_t(queue)]; }
  const std::vector<TaskId> &before(TaskId task) const {
    return befores[size_t(task)];
  }

private:
  void sortTasks();
  Time findStart(TaskId task) const;
  /// False if `before` comes behind `after` in every order.
  bool order(TaskId before, TaskId after);
  bool findAhead(TaskId from, TaskId goal, std::vector<TaskId> &found);
  void findBehind(TaskId from, int32_t least, std::vector<TaskId> &found);
  void unlink(TaskId task);
  bool link(TaskId task, QueueId queue, TaskId previous);
  void touch(TaskId task);
  template <typename Visit> void forAfter(TaskId task, Visit visit) const;

  std::vector<Time> durations, starts;
  std::vector<QueueId> queues;
  std::vector<TaskId> previous, next;
  std::vector<TaskId> firsts, lasts; ///< by queue
  std::vector<std::vector<TaskId>> befores, afters;
  /// A topological order, and the place of each task in it.
  std::vector<TaskId> tasks;
  std::vector<int32_t> places;
  /// Tasks that update() looks at.
  std::vector<TaskId> touched;
  std::vector<uint8_t> isTouched, isVisited;
  std::vector<uint64_t> waiting; ///< update()'s, a bit by place
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_TASKS_H
