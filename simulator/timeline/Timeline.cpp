//===- Timeline.cpp - When the actions of a table run ---------------------===//

#include "simulator/timeline/Timeline.h"
#include <algorithm>
#include <limits>

using namespace mlc::simulator;
using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

Share mlc::simulator::makeShare(__int128 part, __int128 whole) {
  if (whole == 0)
    return {0, 1};
  __int128 a = part, b = whole;
  while (b) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  part /= a;
  whole /= a;
  for (; whole > std::numeric_limits<int64_t>::max(); whole /= 2)
    part /= 2;
  return {int64_t(part), int64_t(whole)};
}

Share Timeline::idle(int32_t rank) const {
  return makeShare(span - busy[size_t(rank)], span);
}

Share Timeline::idle() const {
  __int128 whole = __int128(span) * __int128(busy.size()), part = whole;
  for (Time time : busy)
    part -= time;
  return makeShare(part, whole);
}

Timeline TableTasks::read() const {
  Timeline timeline;
  timeline.span = tasks.span();
  for (size_t rank = 0; rank < taskIds.size(); ++rank) {
    Time busy = 0;
    TaskId last = kNoTask;
    std::vector<Interval> &times = timeline.ranks.emplace_back();
    for (size_t i = 0; i < taskIds[rank].size(); ++i) {
      TaskId task = taskIds[rank][i];
      if (task == kNoTask) {
        TaskId before = standsAfter[rank][i];
        const Time time = before == kNoTask ? 0 : tasks.end(before);
        times.push_back({time, time});
        continue;
      }
      times.push_back({tasks.start(task), tasks.end(task)});
      // The first queues are those of the ranks.
      if (tasks.queueOf(task) == QueueId(rank) && task != last)
        busy += tasks.duration(task);
      last = task;
    }
    timeline.busy.push_back(busy);
  }
  timeline.transfers = transfers;
  for (size_t i = 0; i < transfers.size(); ++i)
    timeline.transfers[i].time = {tasks.start(transferIds[i]),
                                  tasks.end(transferIds[i])};
  return timeline;
}

Status mlc::simulator::makeTimeline(const Table &table,
                                    const TimelineOptions &options,
                                    Timeline &timeline) {
  TableTasks tasks;
  Status status = TableTasks::make(table, options, tasks);
  if (status.ok())
    timeline = tasks.read();
  return status;
}

std::vector<Kept> mlc::simulator::activationsOverTime(const Table &table,
                                                      const Timeline &timeline,
                                                      int32_t rank) {
  const std::vector<Action> &actions = table.ranks[size_t(rank)];
  bool isTraining = false;
  std::vector<std::pair<Time, int64_t>> changes;
  for (size_t i = 0; i < actions.size(); ++i) {
    const Interval &time = timeline.ranks[size_t(rank)][i];
    if (actions[i].kind == ActionKind::Forward)
      changes.emplace_back(time.start, 1);
    if (actions[i].kind != ActionKind::Backward &&
        actions[i].kind != ActionKind::WeightGradient)
      continue;
    isTraining = true;
    changes.emplace_back(time.end, -1);
  }
  for (size_t i = 0; !isTraining && i < actions.size(); ++i)
    if (actions[i].kind == ActionKind::Forward)
      changes.emplace_back(timeline.ranks[size_t(rank)][i].end, -1);
  // What ends makes room for what begins.
  std::sort(changes.begin(), changes.end());
  std::vector<Kept> kept;
  int64_t count = 0;
  for (auto [time, change] : changes) {
    count += change;
    if (kept.empty() || kept.back().time != time)
      kept.push_back({time, 0});
    kept.back().count = count;
  }
  return kept;
}

std::vector<Interval> mlc::simulator::bubbles(const Table &table,
                                              const Timeline &timeline,
                                              int32_t rank) {
  std::vector<Interval> idle;
  Time end = 0;
  for (size_t i = 0; i < table.ranks[size_t(rank)].size(); ++i) {
    if (!isCompute(table.ranks[size_t(rank)][i].kind))
      continue;
    const Interval &time = timeline.ranks[size_t(rank)][i];
    if (time.start > end)
      idle.push_back({end, time.start});
    end = std::max(end, time.end);
  }
  if (timeline.span > end)
    idle.push_back({end, timeline.span});
  return idle;
}
