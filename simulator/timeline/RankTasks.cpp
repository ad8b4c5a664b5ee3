//===- RankTasks.cpp - Tasks of many ranks, of which most do the same -----===//

#include "simulator/timeline/RankTasks.h"
#include <algorithm>
#include <map>
#include <set>

using namespace mlc::simulator;

RankTasks::RankTasks(const std::vector<RankTask> &tasks, int32_t ranks,
                     int32_t queues, const std::vector<RankSet> &alternatives,
                     bool isFolded)
    : count(ranks), queues(queues) {
  findClasses(tasks, ranks, alternatives, isFolded);
  for (size_t i = 0; i < classBegins.size() * size_t(queues); ++i)
    graph.addQueue();
  nodes.reserve(tasks.size());
  for (const RankTask &task : tasks)
    addNode(task, !alternatives.empty());
  graph.simulate();
}

/// Ranks that are in the same sets are a class.
void RankTasks::findClasses(const std::vector<RankTask> &tasks, int32_t ranks,
                            const std::vector<RankSet> &alternatives,
                            bool isFolded) {
  std::set<RankSet> sets(alternatives.begin(), alternatives.end());
  for (const RankTask &task : tasks)
    sets.insert(task.ranks);
  std::set<int32_t> ends{0};
  for (const RankSet &set : sets)
    for (const RankRange &range : set) {
      ends.insert(range.begin);
      ends.insert(range.end);
    }
  for (int32_t rank = 0; rank < ranks; ++rank)
    if (!isFolded || ends.count(rank))
      cuts.push_back(rank);
  std::vector<std::vector<int32_t>> members(cuts.size());
  int32_t number = 0;
  for (const RankSet &set : sets) {
    for (const RankRange &range : set)
      for (auto cut = std::lower_bound(cuts.begin(), cuts.end(), range.begin);
           cut != cuts.end() && *cut < range.end; ++cut)
        members[size_t(cut - cuts.begin())].push_back(number);
    ++number;
  }
  std::map<std::vector<int32_t>, int32_t> known;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (!isFolded)
      members[i] = {int32_t(i)};
    auto [found, isNew] =
        known.emplace(members[i], int32_t(classBegins.size()));
    if (isNew)
      classBegins.push_back(int32_t(i));
    classes.push_back(found->second);
  }
}

/// The classes that are in a set; false if only a part of one is.
bool RankTasks::findMembers(const RankSet &ranks,
                            std::vector<uint8_t> &isIn) const {
  isIn.assign(classBegins.size(), 0);
  auto rangeOf = [&](size_t interval) {
    for (const RankRange &range : ranks)
      if (cuts[interval] >= range.begin && cuts[interval] < range.end)
        return true;
    return false;
  };
  for (size_t part = 0; part < classBegins.size(); ++part)
    isIn[part] = rangeOf(size_t(classBegins[part]));
  for (size_t i = 0; i < cuts.size(); ++i)
    if (rangeOf(i) != bool(isIn[size_t(classes[i])]))
      return false;
  // Nor does a range begin or end within an interval.
  for (const RankRange &range : ranks)
    for (int32_t cut : {range.begin, range.end})
      if (cut != count && !std::binary_search(cuts.begin(), cuts.end(), cut))
        return false;
  return true;
}

void RankTasks::addNode(const RankTask &task, bool isMovable) {
  const int32_t number = int32_t(nodes.size());
  Node &node = nodes.emplace_back();
  node.task = task;
  findMembers(task.ranks, node.isIn);
  const size_t count = classBegins.size();
  auto addParts = [&](std::vector<TaskId> &parts, Time duration) {
    parts.assign(count, kNoTask);
    for (size_t part = 0; part < count; ++part)
      if (node.isIn[part] || isMovable)
        parts[part] = graph.add(
            node.isIn[part] ? queueOf(node, part) : kNoQueue, duration);
  };
  if (task.isExchange) {
    addParts(node.arrivals, 0);
    node.exchange = graph.add(kNoQueue, task.duration);
    addParts(node.parts, 0);
  } else {
    addParts(node.parts, task.duration);
  }
  for (int32_t before : task.after)
    nodes[size_t(before)].readers.push_back(number);
  for (size_t part = 0; part < count; ++part) {
    if (!node.isIn[part])
      continue;
    if (task.isExchange) {
      graph.addEdge(node.arrivals[part], node.exchange);
      graph.addEdge(node.exchange, node.parts[part]);
    }
    for (int32_t before : task.after)
      if (nodes[size_t(before)].isIn[part])
        graph.addEdge(nodes[size_t(before)].parts[part], firstOf(node, part));
  }
}

void RankTasks::changeDuration(int32_t number, Time duration) {
  Node &node = nodes[size_t(number)];
  node.task.duration = duration;
  if (node.task.isExchange) {
    graph.changeDuration(node.exchange, duration);
    return;
  }
  for (TaskId part : node.parts)
    if (part != kNoTask)
      graph.changeDuration(part, duration);
}

/// The last task before `number` in its queue.
TaskId RankTasks::lastBefore(int32_t number, size_t part) const {
  const int32_t queue = nodes[size_t(number)].task.queue;
  for (int32_t i = number - 1; i >= 0; --i)
    if (const Node &node = nodes[size_t(i)];
        node.isIn[part] && node.task.queue == queue)
      return node.parts[part];
  return kNoTask;
}

/// The order of tasks is that of the program, so no circle is closed.
void RankTasks::enter(Node &node, int32_t number, size_t part) {
  const QueueId queue = queueOf(node, part);
  TaskId last = lastBefore(number, part);
  node.isIn[part] = 1;
  if (node.task.isExchange) {
    graph.changeQueue(node.arrivals[part], queue, last);
    last = node.arrivals[part];
    graph.changeAddEdge(last, node.exchange);
    graph.changeAddEdge(node.exchange, node.parts[part]);
  }
  graph.changeQueue(node.parts[part], queue, last);
  for (int32_t before : node.task.after)
    if (nodes[size_t(before)].isIn[part])
      graph.changeAddEdge(nodes[size_t(before)].parts[part],
                          firstOf(node, part));
  for (int32_t reader : node.readers)
    if (nodes[size_t(reader)].isIn[part])
      graph.changeAddEdge(node.parts[part],
                          firstOf(nodes[size_t(reader)], part));
}

void RankTasks::leave(Node &node, size_t part) {
  for (int32_t before : node.task.after)
    if (nodes[size_t(before)].isIn[part])
      graph.changeRemoveEdge(nodes[size_t(before)].parts[part],
                             firstOf(node, part));
  for (int32_t reader : node.readers)
    if (nodes[size_t(reader)].isIn[part])
      graph.changeRemoveEdge(node.parts[part],
                             firstOf(nodes[size_t(reader)], part));
  node.isIn[part] = 0;
  graph.changeQueue(node.parts[part], kNoQueue, kNoTask);
  if (!node.task.isExchange)
    return;
  graph.changeQueue(node.arrivals[part], kNoQueue, kNoTask);
  graph.changeRemoveEdge(node.arrivals[part], node.exchange);
  graph.changeRemoveEdge(node.exchange, node.parts[part]);
}

bool RankTasks::changeRanks(int32_t number, const RankSet &ranks) {
  Node &node = nodes[size_t(number)];
  std::vector<uint8_t> isIn;
  if (!findMembers(ranks, isIn))
    return false;
  for (size_t part = 0; part < isIn.size(); ++part)
    if (isIn[part] && node.parts[part] == kNoTask)
      return false;
  node.task.ranks = ranks;
  for (size_t part = 0; part < isIn.size(); ++part) {
    if (isIn[part] && !node.isIn[part])
      enter(node, number, part);
    else if (!isIn[part] && node.isIn[part])
      leave(node, part);
  }
  return true;
}

size_t RankTasks::classOf(int32_t rank) const {
  auto cut = std::upper_bound(cuts.begin(), cuts.end(), rank);
  return size_t(classes[size_t(cut - cuts.begin()) - 1]);
}

Time RankTasks::start(int32_t task, int32_t rank) const {
  const Node &node = nodes[size_t(task)];
  return graph.start(node.task.isExchange ? node.exchange
                                          : node.parts[classOf(rank)]);
}

Time RankTasks::end(int32_t task, int32_t rank) const {
  const Node &node = nodes[size_t(task)];
  return graph.end(node.task.isExchange ? node.exchange
                                        : node.parts[classOf(rank)]);
}
