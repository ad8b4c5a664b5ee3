//===- RankTasks.h - Tasks of many ranks, of which most do the same -------===//
//
// Operators and exchanges on sets of ranks. Ranks that belong to the same sets
// do the same at the same times, so one of them is simulated for all.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_TIMELINE_RANKTASKS_H
#define MLC_SIMULATOR_TIMELINE_RANKTASKS_H

#include "simulator/timeline/Tasks.h"

namespace mlc::simulator {

/// Ranks from `begin` to before `end`.
struct RankRange {
  int32_t begin, end;

  bool operator==(const RankRange &other) const {
    return begin == other.begin && end == other.end;
  }
  bool operator<(const RankRange &other) const {
    return begin != other.begin ? begin < other.begin : end < other.end;
  }
};
/// In order, without overlaps; ranges that touch are one range.
using RankSet = std::vector<RankRange>;

struct RankTask {
  Time duration = 0;
  /// The ranks that take part; none: the task is left out.
  RankSet ranks;
  /// An exchange: it begins when all its ranks have come to it, and they go on
  /// when it ends. Else each rank does it by itself.
  bool isExchange = false;
  /// Each rank has so many queues, and does the tasks of one in order.
  int32_t queue = 0;
  /// Earlier tasks that it waits for. A rank waits for what it takes part in.
  std::vector<int32_t> after;
};

/// Tasks in program order, their times, and changes to them.
class RankTasks {
public:
  /// `alternatives` are sets that changeRanks() may name later. With
  /// `isFolded` false every rank is simulated for itself. Ranks of tasks are
  /// below `ranks`, and queues below `queues`.
  RankTasks(const std::vector<RankTask> &tasks, int32_t ranks, int32_t queues,
            const std::vector<RankSet> &alternatives = {},
            bool isFolded = true);

  void changeDuration(int32_t task, Time duration);
  /// False, and nothing is changed, if a part of the ranks that are simulated
  /// as one would take part: the set was not named.
  bool changeRanks(int32_t task, const RankSet &ranks);
  /// After changes: gives the tasks that they touch their times. Returns how
  /// many were looked at.
  int64_t update() { return graph.update(); }
  /// Gives all tasks their times, as the constructor does.
  void simulate() { graph.simulate(); }

  /// Of a rank that takes part.
  Time start(int32_t task, int32_t rank) const;
  Time end(int32_t task, int32_t rank) const;
  Time span() const { return graph.span(); }
  /// How many ranks are simulated, and tasks of theirs.
  int32_t countClasses() const { return int32_t(classBegins.size()); }
  int32_t countTasks() const { return graph.size(); }

private:
  struct Node {
    RankTask task;
    /// By class: the task of the rank; of an exchange, the rank's wait for its
    /// end, and, before it in the queue, its arrival. kNoTask where no set has
    /// both.
    std::vector<TaskId> parts, arrivals;
    /// What all ranks do together.
    TaskId exchange = kNoTask;
    std::vector<uint8_t> isIn; ///< by class
    std::vector<int32_t> readers;
  };

  void findClasses(const std::vector<RankTask> &tasks, int32_t ranks,
                   const std::vector<RankSet> &alternatives, bool isFolded);
  bool findMembers(const RankSet &ranks, std::vector<uint8_t> &isIn) const;
  void addNode(const RankTask &task, bool isMovable);
  void enter(Node &node, int32_t number, size_t part);
  void leave(Node &node, size_t part);
  TaskId lastBefore(int32_t number, size_t part) const;
  QueueId queueOf(const Node &node, size_t part) const {
    return QueueId(part * size_t(queues) + size_t(node.task.queue));
  }
  TaskId firstOf(const Node &node, size_t part) const {
    return node.task.isExchange ? node.arrivals[part] : node.parts[part];
  }
  size_t classOf(int32_t rank) const;

  int32_t count, queues; ///< of ranks, and of queues of each
  std::vector<Node> nodes;
  /// Intervals of ranks that no set cuts, and the class of each.
  std::vector<int32_t> cuts;
  std::vector<int32_t> classes;
  /// By class: its first interval.
  std::vector<int32_t> classBegins;
  TaskGraph graph;
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_RANKTASKS_H
