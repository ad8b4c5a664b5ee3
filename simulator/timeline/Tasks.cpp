//===- Tasks.cpp - Tasks on queues, simulated in full or where changed ----===//

#include "simulator/timeline/Tasks.h"
#include <algorithm>
#include <numeric>

using namespace mlc::simulator;

QueueId TaskGraph::addQueue() {
  firsts.push_back(kNoTask);
  lasts.push_back(kNoTask);
  return QueueId(firsts.size()) - 1;
}

TaskId TaskGraph::add(QueueId queue, Time duration) {
  TaskId task = size();
  durations.push_back(duration);
  starts.push_back(0);
  queues.push_back(queue);
  previous.push_back(queue == kNoQueue ? kNoTask : lasts[size_t(queue)]);
  next.push_back(kNoTask);
  befores.emplace_back();
  afters.emplace_back();
  if (queue == kNoQueue)
    return task;
  if (previous.back() == kNoTask)
    firsts[size_t(queue)] = task;
  else
    next[size_t(previous.back())] = task;
  lasts[size_t(queue)] = task;
  return task;
}

void TaskGraph::addEdge(TaskId before, TaskId after) {
  befores[size_t(after)].push_back(before);
  afters[size_t(before)].push_back(after);
}

template <typename Visit>
void TaskGraph::forAfter(TaskId task, Visit visit) const {
  for (TaskId after : afters[size_t(task)])
    visit(after);
  if (next[size_t(task)] != kNoTask)
    visit(next[size_t(task)]);
}

Time TaskGraph::findStart(TaskId task) const {
  TaskId last = previous[size_t(task)];
  Time start = last == kNoTask ? 0 : end(last);
  for (TaskId before : befores[size_t(task)])
    start = std::max(start, end(before));
  return start;
}

Time TaskGraph::span() const {
  Time span = 0;
  for (TaskId task : lasts)
    if (task != kNoTask)
      span = std::max(span, end(task));
  return span;
}

//===----------------------------------------------------------------------===//
// In full
//===----------------------------------------------------------------------===//

bool TaskGraph::simulate() {
  const size_t count = durations.size();
  isTouched.assign(count, 0);
  isVisited.assign(count, 0);
  touched.clear();
  tasks.resize(count);
  std::iota(tasks.begin(), tasks.end(), 0);
  // Tasks that were added in an order of theirs keep it.
  const bool isOrdered = std::all_of(tasks.begin(), tasks.end(), [&](TaskId i) {
    return previous[size_t(i)] < i &&
           std::all_of(
               befores[size_t(i)].begin(), befores[size_t(i)].end(),
               [&](TaskId before) { return before < i; });
  });
  places.assign(count, -1);
  if (isOrdered)
    places = tasks;
  else
    sortTasks();
  for (TaskId task : tasks)
    starts[size_t(task)] = findStart(task);
  return tasks.size() == count;
}

/// Without those that are stuck.
void TaskGraph::sortTasks() {
  const size_t count = durations.size();
  std::vector<int32_t> missing(count);
  tasks.clear();
  for (size_t i = 0; i < count; ++i) {
    missing[i] = int32_t(befores[i].size()) + (previous[i] != kNoTask);
    if (missing[i] == 0)
      tasks.push_back(TaskId(i));
  }
  // `tasks` is its own worklist.
  for (size_t i = 0; i < tasks.size(); ++i) {
    places[size_t(tasks[i])] = int32_t(i);
    forAfter(tasks[i], [&](TaskId after) {
      if (--missing[size_t(after)] == 0)
        tasks.push_back(after);
    });
  }
}

TaskId TaskGraph::firstStuck() const {
  auto stuck = std::find(places.begin(), places.end(), -1);
  return stuck == places.end() ? kNoTask : TaskId(stuck - places.begin());
}

TaskId TaskGraph::stuckBefore(TaskId task) const {
  for (TaskId before : befores[size_t(task)])
    if (places[size_t(before)] == -1)
      return before;
  return previous[size_t(task)];
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void TaskGraph::touch(TaskId task) {
  if (task == kNoTask || isTouched[size_t(task)])
    return;
  isTouched[size_t(task)] = 1;
  touched.push_back(task);
}

void TaskGraph::changeDuration(TaskId task, Time duration) {
  if (durations[size_t(task)] == duration)
    return;
  durations[size_t(task)] = duration;
  forAfter(task, [&](TaskId after) { touch(after); });
}

/// Tasks that wait for `from`, up to the place of `goal`; false if it is one.
bool TaskGraph::findAhead(TaskId from, TaskId goal,
                          std::vector<TaskId> &found) {
  found.push_back(from);
  isVisited[size_t(from)] = 1;
  bool isFree = true;
  for (size_t i = 0; i < found.size() && isFree; ++i)
    forAfter(found[i], [&](TaskId after) {
      isFree &= after != goal;
      if (isVisited[size_t(after)] ||
          places[size_t(after)] > places[size_t(goal)])
        return;
      isVisited[size_t(after)] = 1;
      found.push_back(after);
    });
  return isFree;
}

/// Tasks that `from` waits for, down to place `least`.
void TaskGraph::findBehind(TaskId from, int32_t least,
                           std::vector<TaskId> &found) {
  auto visit = [&](TaskId task) {
    if (task == kNoTask || isVisited[size_t(task)] ||
        places[size_t(task)] < least)
      return;
    isVisited[size_t(task)] = 1;
    found.push_back(task);
  };
  visit(from);
  for (size_t i = 0; i < found.size(); ++i) {
    for (TaskId before : befores[size_t(found[i])])
      visit(before);
    visit(previous[size_t(found[i])]);
  }
}

/// Pearce and Kelly, 2006: only tasks between the two change their places.
bool TaskGraph::order(TaskId before, TaskId after) {
  if (before == after)
    return false;
  if (places[size_t(before)] < places[size_t(after)])
    return true;
  std::vector<TaskId> ahead, behind;
  bool isFree = findAhead(after, before, ahead);
  if (isFree)
    findBehind(before, places[size_t(after)], behind);
  for (const std::vector<TaskId> *found : {&ahead, &behind})
    for (TaskId task : *found)
      isVisited[size_t(task)] = 0;
  if (!isFree)
    return false;
  auto byPlace = [&](TaskId a, TaskId b) {
    return places[size_t(a)] < places[size_t(b)];
  };
  std::sort(ahead.begin(), ahead.end(), byPlace);
  std::sort(behind.begin(), behind.end(), byPlace);
  behind.insert(behind.end(), ahead.begin(), ahead.end());
  std::vector<int32_t> free;
  free.reserve(behind.size());
  for (TaskId task : behind)
    free.push_back(places[size_t(task)]);
  std::sort(free.begin(), free.end());
  for (size_t i = 0; i < behind.size(); ++i) {
    places[size_t(behind[i])] = free[i];
    tasks[size_t(free[i])] = behind[i];
  }
  return true;
}

bool TaskGraph::changeAddEdge(TaskId before, TaskId after) {
  if (!order(before, after))
    return false;
  addEdge(before, after);
  touch(after);
  return true;
}

void TaskGraph::changeRemoveEdge(TaskId before, TaskId after) {
  auto remove = [](std::vector<TaskId> &from, TaskId what) {
    auto found = std::find(from.begin(), from.end(), what);
    *found = from.back();
    from.pop_back();
  };
  remove(befores[size_t(after)], before);
  remove(afters[size_t(before)], after);
  touch(after);
}

void TaskGraph::unlink(TaskId task) {
  QueueId queue = queues[size_t(task)];
  if (queue == kNoQueue)
    return;
  TaskId last = previous[size_t(task)], following = next[size_t(task)];
  (last == kNoTask ? firsts[size_t(queue)] : next[size_t(last)]) = following;
  (following == kNoTask ? lasts[size_t(queue)] : previous[size_t(following)]) =
      last;
  previous[size_t(task)] = next[size_t(task)] = kNoTask;
  queues[size_t(task)] = kNoQueue;
  touch(task);
  touch(following);
}

bool TaskGraph::link(TaskId task, QueueId queue, TaskId last) {
  if (queue == kNoQueue)
    return true;
  TaskId following =
      last == kNoTask ? firsts[size_t(queue)] : next[size_t(last)];
  if (last != kNoTask && !order(last, task))
    return false;
  // The first link is there while the second is sought, so that a circle
  // through both is seen.
  previous[size_t(task)] = last;
  if (last != kNoTask)
    next[size_t(last)] = task;
  if (following != kNoTask) {
    previous[size_t(following)] = kNoTask;
    if (!order(task, following)) {
      previous[size_t(following)] = last;
      previous[size_t(task)] = kNoTask;
      if (last != kNoTask)
        next[size_t(last)] = following;
      return false;
    }
    previous[size_t(following)] = task;
  } else {
    lasts[size_t(queue)] = task;
  }
  next[size_t(task)] = following;
  if (last == kNoTask)
    firsts[size_t(queue)] = task;
  queues[size_t(task)] = queue;
  touch(task);
  touch(following);
  return true;
}

bool TaskGraph::changeQueue(TaskId task, QueueId queue, TaskId last) {
  QueueId old = queues[size_t(task)];
  TaskId before = previous[size_t(task)];
  if (old == queue && (queue == kNoQueue || before == last))
    return true;
  unlink(task);
  if (link(task, queue, last))
    return true;
  link(task, old, before); // which had no circle
  return false;
}

//===----------------------------------------------------------------------===//
// Where changed
//===----------------------------------------------------------------------===//

int64_t TaskGraph::update() {
  waiting.resize((durations.size() + 63) / 64, 0);
  size_t word = waiting.size(), last = 0;
  auto mark = [&](TaskId task) {
    size_t place = size_t(places[size_t(task)]);
    waiting[place / 64] |= uint64_t(1) << (place % 64);
    last = std::max(last, place / 64);
  };
  for (TaskId task : touched) {
    mark(task);
    isTouched[size_t(task)] = 0;
    word = std::min(word, size_t(places[size_t(task)]) / 64);
  }
  touched.clear();
  int64_t looked = 0;
  for (; word <= last && word < waiting.size(); ++word)
    // Later tasks of the word may be marked meanwhile.
    while (waiting[word]) {
      size_t bit = size_t(__builtin_ctzll(waiting[word]));
      waiting[word] &= waiting[word] - 1;
      TaskId task = tasks[word * 64 + bit];
      ++looked;
      Time start = findStart(task);
      if (start == starts[size_t(task)])
        continue;
      starts[size_t(task)] = start;
      forAfter(task, mark);
    }
  return looked;
}
