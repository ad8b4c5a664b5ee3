//===- TableTasks.cpp - A table's actions as tasks ------------------------===//

#include "runtime/schedule/StageRanks.h"
#include "simulator/timeline/Timeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

using namespace mlc::simulator;
using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

namespace {
/// Where an action stands.
struct Place {
  int32_t rank = kNone, index = kNone;
  bool exists() const { return rank != kNone; }
};
} // namespace

namespace mlc::simulator {

class TableTasksBuilder {
public:
  TableTasksBuilder(const Table &table, const TimelineOptions &options,
                    TableTasks &tasks)
      : table(table), options(options), result(tasks), graph(tasks.tasks) {}

  Status build();

private:
  const Action &at(const Place &place) const {
    return table.ranks[size_t(place.rank)][size_t(place.index)];
  }
  size_t itemOf(const Action &action, int32_t stage) const {
    return (size_t(stage) * size_t(microBatches) + size_t(action.microBatch)) *
               size_t(slices) +
           size_t(std::max(action.slice, 0));
  }
  Status wrong(const Place &place, const std::string &what) const {
    return Status::badFile("rank " + std::to_string(place.rank) + ", " +
                           toString(at(place)) + ": " + what);
  }
  /// What names a message of `item` in the stage that it comes from.
  uint64_t messageKey(bool isForward, int32_t toStage, size_t item) const {
    return (uint64_t(item) * uint64_t(stages) + uint64_t(toStage)) * 2 +
           isForward;
  }
  Time timeOf(const Action &action) const;
  Status findPasses();
  void findReadings();
  void addComputation();
  size_t addGroup(size_t rank, size_t index, QueueId queue);
  Status addMessages();
  void addMessage(const Place &from, bool isForward, int32_t fromStage,
                  int32_t toStage, const Place &to);
  Status addNeeds();
  Status addNeed(const Place &place, bool isForward, int32_t stage);
  Status addLocalNeed(const Place &place, const std::vector<Place> &made,
                      size_t item);
  void addCollectives();
  Status findStuck() const;

  const Table &table;
  const TimelineOptions &options;
  TableTasks &result;
  TaskGraph &graph;
  int32_t stages = 0, microBatches = 0, slices = 1;
  bool hasTransfers = false;
  /// By item: where F, and I or B, are.
  std::vector<Place> forwards, gradients;
  /// By stage.
  std::vector<std::vector<int32_t>> reads, readers, gradientsTo, gradientsFrom;
  std::map<std::pair<int32_t, int32_t>, QueueId> channels;
  /// By messageKey(): the number in `transfers`.
  std::unordered_map<uint64_t, size_t> messages;
};

} // namespace mlc::simulator

Time TableTasksBuilder::timeOf(const Action &action) const {
  if (action.kind == ActionKind::Backward) {
    Action part = action;
    part.kind = ActionKind::InputGradient;
    Time input = timeOf(part);
    part.kind = ActionKind::WeightGradient;
    return input + timeOf(part);
  }
  if (options.compute)
    return options.compute(action);
  const StageTimes &times =
      options.stages[options.stages.size() == 1 ? 0 : size_t(action.stage)];
  switch (action.kind) {
  case ActionKind::Forward:
    return times.forward;
  case ActionKind::InputGradient:
    return times.input;
  case ActionKind::WeightGradient:
    return times.weight;
  case ActionKind::Norm:
    return 0; // part of the update's time
  default:
    return times.step;
  }
}

Status TableTasksBuilder::build() {
  stages = table.countStages();
  microBatches = std::max(1, table.countMicroBatches());
  slices = table.countSlices();
  hasTransfers = table.hasTransfers();
  const int64_t most = 4096 + 16 * table.countActions();
  const int64_t pairs = int64_t(stages) * microBatches;
  if (pairs > most || pairs * slices > most)
    return Status::badFile("the table's numbers are larger than its actions "
                           "can be about");
  if (options.stages.size() != 1 && options.stages.size() < size_t(stages) &&
      !options.compute)
    return Status::error(MLC_USAGE, "there are times of " +
                                        std::to_string(options.stages.size()) +
                                        " stages, for " +
                                        std::to_string(stages));
  if (Status status = findPasses(); !status.ok())
    return status;
  findReadings();
  addComputation();
  if (Status status = addMessages(); !status.ok())
    return status;
  if (Status status = addNeeds(); !status.ok())
    return status;
  addCollectives();
  return graph.simulate() ? Status::success() : findStuck();
}

Status TableTasksBuilder::findPasses() {
  forwards.resize(size_t(stages) * size_t(microBatches) * size_t(slices));
  gradients.resize(forwards.size());
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      Place place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      const bool isForward = action.kind == ActionKind::Forward;
      if (!isForward && action.kind != ActionKind::InputGradient &&
          action.kind != ActionKind::Backward)
        continue;
      Place &first =
          (isForward ? forwards : gradients)[itemOf(action, action.stage)];
      if (first.exists())
        return wrong(place, "it is there twice");
      first = place;
    }
  return Status::success();
}

void TableTasksBuilder::findReadings() {
  for (auto *lists : {&reads, &readers, &gradientsTo, &gradientsFrom})
    lists->resize(size_t(stages));
  auto add = [&](const Reading &reading) {
    if (reading.from < 0 || reading.from >= reading.to || reading.to >= stages)
      return;
    std::vector<int32_t> &of = reads[size_t(reading.to)];
    if (std::find(of.begin(), of.end(), reading.from) != of.end())
      return;
    of.push_back(reading.from);
    readers[size_t(reading.from)].push_back(reading.to);
    if (!reading.hasGradient)
      return;
    gradientsTo[size_t(reading.to)].push_back(reading.from);
    gradientsFrom[size_t(reading.from)].push_back(reading.to);
  };
  for (const Reading &reading :
       options.reads.empty() ? readPrevious(stages) : options.reads)
    add(reading);
  // Transfers name others.
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions)
      if (options.reads.empty() && action.kind == ActionKind::ReceiveForward)
        add({peerOf(action), action.stage});
}

/// The actions of an overlap as one task; returns the index of the last.
size_t TableTasksBuilder::addGroup(size_t rank, size_t index, QueueId queue) {
  const std::vector<Action> &actions = table.ranks[rank];
  Time time = timeOf(actions[index]);
  size_t end = index + 1;
  for (; options.overlap && actions[index].overlap != kNone &&
         end < actions.size() && actions[end].overlap == actions[index].overlap;
       ++end)
    time = options.overlap(time, timeOf(actions[end]));
  TaskId task = graph.add(queue, time);
  std::fill(result.taskIds[rank].begin() + long(index),
            result.taskIds[rank].begin() + long(end), task);
  return end - 1;
}

void TableTasksBuilder::addComputation() {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    const QueueId queue = graph.addQueue();
    const std::vector<Action> &actions = table.ranks[rank];
    result.taskIds.emplace_back(actions.size(), kNoTask);
    result.standsAfter.emplace_back(actions.size(), kNoTask);
    for (size_t i = 0; i < actions.size(); ++i) {
      result.standsAfter[rank][i] = graph.lastOf(queue);
      if (isCompute(actions[i].kind))
        i = addGroup(rank, i, queue);
    }
  }
}

void TableTasksBuilder::addMessage(const Place &from, bool isForward,
                                   int32_t fromStage, int32_t toStage,
                                   const Place &to) {
  Action send = at(from);
  send.kind = isForward ? ActionKind::SendForward : ActionKind::SendBackward;
  send.stage = fromStage;
  send.peer = toStage;
  const int64_t bytes = options.bytes ? options.bytes(send) : 0;
  const Time time = options.transfer
                        ? options.transfer(fromStage, bytes, from.rank, to.rank)
                        : 0;
  auto [channel, isNew] = channels.emplace(std::pair(from.rank, to.rank), 0);
  if (isNew)
    channel->second = graph.addQueue();
  messages.emplace(messageKey(isForward, toStage, itemOf(send, fromStage)),
                   result.transfers.size());
  result.transferIds.push_back(graph.add(channel->second, time));
  result.transfers.push_back(
      {from.rank, to.rank, from.index, to.index, isForward, bytes, {}});
}

/// In the order of each sender.
Status TableTasksBuilder::addMessages() {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      Place place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      const bool isForward = hasTransfers
                                 ? action.kind == ActionKind::SendForward
                                 : action.kind == ActionKind::Forward;
      if (hasTransfers ? !isSend(action.kind)
                       : !isForward && action.kind != ActionKind::Backward &&
                             action.kind != ActionKind::InputGradient)
        continue;
      const std::vector<int32_t> one{peerOf(action)};
      for (int32_t peer : hasTransfers ? one
                          : isForward  ? readers[size_t(action.stage)]
                                       : gradientsTo[size_t(action.stage)]) {
        const Place to =
            peer < 0 || peer >= stages
                ? Place()
                : (isForward ? forwards : gradients)[itemOf(action, peer)];
        if (!to.exists() && hasTransfers)
          return wrong(place, "no rank needs it");
        if (!to.exists() || (to.rank == place.rank && !hasTransfers))
          continue;
        addMessage(place, isForward, action.stage, peer, to);
        TaskId before = hasTransfers ? result.standsAfter[rank][i]
                                     : result.taskIds[rank][i];
        if (before != kNoTask)
          graph.addEdge(before, result.transferIds.back());
        if (hasTransfers)
          result.taskIds[rank][i] = result.transferIds.back();
      }
    }
  return Status::success();
}

Status TableTasksBuilder::addNeeds() {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      Place place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      const size_t item =
          hasMicroBatch(action.kind) ? itemOf(action, action.stage) : 0;
      const int32_t slice = std::max(action.slice, 0);
      Status status;
      switch (action.kind) {
      case ActionKind::ReceiveForward:
      case ActionKind::ReceiveBackward:
        status = addNeed(place, action.kind == ActionKind::ReceiveForward,
                         peerOf(action));
        break;
      case ActionKind::Forward:
        for (int32_t stage : reads[size_t(action.stage)])
          if (status.ok())
            status = addNeed(place, true, stage);
        if (status.ok() && slice > 0)
          status = addLocalNeed(place, forwards, item - 1);
        break;
      case ActionKind::Backward:
      case ActionKind::InputGradient:
        status = addLocalNeed(place, forwards, item);
        for (int32_t stage : gradientsFrom[size_t(action.stage)])
          if (status.ok())
            status = addNeed(place, false, stage);
        if (status.ok() && slice + 1 < slices)
          status = addLocalNeed(place, gradients, item + 1);
        break;
      case ActionKind::WeightGradient:
        status = addLocalNeed(place, gradients, item);
        break;
      default:
        break;
      }
      if (!status.ok())
        return status;
    }
  return Status::success();
}

Status TableTasksBuilder::addLocalNeed(const Place &place,
                                       const std::vector<Place> &made,
                                       size_t item) {
  const Place &needed = made[item];
  if (!needed.exists())
    return wrong(place, "no rank runs what it needs");
  TaskId before = result.taskIds[size_t(needed.rank)][size_t(needed.index)],
         after = result.taskIds[size_t(place.rank)][size_t(place.index)];
  if (before != after)
    graph.addEdge(before, after);
  return Status::success();
}

/// What `stage` gives: by a message, or on the same rank.
Status TableTasksBuilder::addNeed(const Place &place, bool isForward,
                                  int32_t stage) {
  const Action &action = at(place);
  if (stage < 0 || stage >= stages)
    return wrong(place, "there is no such stage");
  const size_t item = itemOf(action, stage);
  const std::vector<Place> &made = isForward ? forwards : gradients;
  if (made[item].exists() && made[item].rank == place.rank &&
      isCompute(action.kind))
    return addLocalNeed(place, made, item);
  auto found = messages.find(messageKey(isForward, action.stage, item));
  if (found == messages.end())
    return wrong(place, hasTransfers ? "no rank sends what it needs"
                                     : "no rank runs what it needs");
  TaskId message = result.transferIds[found->second];
  TaskId &task = result.taskIds[size_t(place.rank)][size_t(place.index)];
  if (isCompute(action.kind)) {
    graph.addEdge(message, task);
    return Status::success();
  }
  // A receive: the message waits until the rank has come to it.
  if (result.transfers[found->second].to != place.rank)
    return wrong(place, "another rank needs it");
  task = message;
  result.transfers[found->second].toIndex = place.index;
  TaskId before = result.standsAfter[size_t(place.rank)][size_t(place.index)];
  if (before != kNoTask && !options.isEager)
    graph.addEdge(before, message);
  return Status::success();
}

/// Sums and gathers run beside computation. They begin when all ranks of the
/// stage have come to them; UNSHARD ends before the stage's next computation,
/// REDUCE_GRAD before its NORM or update, or before what follows a wait for it.
void TableTasksBuilder::addCollectives() {
  std::vector<std::vector<TaskId>> all;
  all.resize(size_t(stages));
  std::vector<QueueId> queues(size_t(stages), kNoQueue);
  std::vector<size_t> next(size_t(stages), 0);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    const std::vector<Action> &actions = table.ranks[rank];
    std::vector<TaskId> gathers(size_t(stages), kNoTask), sums = gathers;
    TaskId waited = kNoTask;
    for (size_t i = 0; i < actions.size(); ++i) {
      const size_t stage = size_t(actions[i].stage);
      TaskId &task = result.taskIds[rank][i];
      const bool isGather = actions[i].kind == ActionKind::Unshard;
      if (isGather || actions[i].kind == ActionKind::ReduceGradients) {
        if (queues[stage] == kNoQueue)
          queues[stage] = graph.addQueue();
        if (next[stage] == all[stage].size())
          all[stage].push_back(graph.add(
              queues[stage],
              options.collective ? options.collective(actions[i]) : 0));
        task = all[stage][next[stage]++];
        if (TaskId before = result.standsAfter[rank][i]; before != kNoTask)
          graph.addEdge(before, task);
        (isGather ? gathers : sums)[stage] = task;
      } else if (actions[i].kind == ActionKind::WaitReduceGradients) {
        waited = sums[stage];
      } else if (isCompute(actions[i].kind)) {
        TaskId &before =
            hasMicroBatch(actions[i].kind) ? gathers[stage] : sums[stage];
        for (TaskId *one : {&before, &waited}) {
          if (*one != kNoTask)
            graph.addEdge(*one, task);
          *one = kNoTask;
        }
      }
    }
    std::fill(next.begin(), next.end(), 0);
  }
}

/// Names an action that waits for itself.
Status TableTasksBuilder::findStuck() const {
  TaskId task = graph.firstStuck();
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i)
      if (result.taskIds[rank][i] == task)
        return wrong({int32_t(rank), int32_t(i)},
                     "it waits for what waits for it; the check of the table "
                     "names the circle");
  return Status::badFile("transfers wait for each other");
}

Status TableTasks::make(const Table &table, const TimelineOptions &options,
                        TableTasks &tasks) {
  tasks = TableTasks();
  return TableTasksBuilder(table, options, tasks).build();
}
