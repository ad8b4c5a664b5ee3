//===- CheckParts.cpp - The parts of a check, one after the other ---------===//

#include "runtime/schedule/CheckParts.h"

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

WorkItem TableCheck::numbersOf(size_t item) const {
  size_t slice = item % size_t(slices), rest = item / size_t(slices);
  return {int32_t(rest / size_t(microBatches)),
          int32_t(rest % size_t(microBatches)), int32_t(slice)};
}

std::string TableCheck::nameOf(ActionKind kind, size_t item) const {
  WorkItem numbers = numbersOf(item);
  Action action;
  action.kind = kind;
  action.stage = numbers.stage;
  action.microBatch = numbers.microBatch;
  action.slice = isSliced ? numbers.slice : kNone;
  return toString(action);
}

std::string TableCheck::describe(const ActionPlace &place) const {
  const std::vector<Action> &actions = table.ranks[size_t(place.rank)];
  // Actions that overlap are one cell.
  int64_t cell = 1;
  for (size_t i = 1; i <= size_t(place.index); ++i)
    cell += actions[i].overlap == kNone ||
            actions[i].overlap != actions[i - 1].overlap;
  return "rank " + std::to_string(place.rank) + ", cell " +
         std::to_string(cell) + ", " + toString(at(place));
}

bool TableCheck::refuse(const ActionPlace &place, const std::string &what) {
  fault = {place.rank, place.index};
  status = Status::badFile(describe(place) + ": " + what);
  return false;
}

bool TableCheck::refuseMissing(int32_t rank, const std::string &action,
                               const std::string &what) {
  fault = {rank, int64_t(table.ranks[size_t(rank)].size())};
  status = Status::badFile("rank " + std::to_string(rank) + ": " + action +
                           " is missing; " + what);
  return false;
}

bool TableCheck::run() {
  if (table.ranks.empty()) {
    status = Status::badFile("there is no rank; give each rank a list of "
                             "actions");
    return false;
  }
  return findSizes() && checkNumbers() && countForwards() && findStages() &&
         placeActions() && checkUpdates() && checkSlots() && checkShards() &&
         checkTransfers() && checkCollectives() && checkDeadlock();
}

Status schedule::check(const Table &table, const CheckOptions &options,
                       Fault *fault) {
  TableCheck check(table, options);
  bool passed = check.run();
  if (fault)
    *fault = check.fault;
  return passed ? Status::success() : check.takeStatus();
}

CheckOptions schedule::promisesOf(const ScheduleOptions &schedule,
                                  const Table &table) {
  CheckOptions options;
  options.isTraining = true;
  options.stages = table.countStages();
  options.microBatches = table.countMicroBatches();
  options.slices = table.countSlices();
  options.sumOrder = schedule.name == "breadth-first" ? CheckOptions::Falling
                                                      : CheckOptions::Rising;
  if (schedule.name == "pipedream")
    options.promise.kind = Promise::Stashing;
  if (schedule.name == "pipedream-2bw") {
    options.promise.kind = Promise::TwoVersions;
    options.promise.perUpdate = schedule.updateEvery
                                    ? int32_t(schedule.updateEvery)
                                    : int32_t(table.ranks.size());
  }
  if (schedule.name == "ampnet") {
    options.promise.kind = Promise::BoundedStaleness;
    // What is in flight may update in between.
    options.promise.most =
        schedule.inFlight ? int32_t(schedule.inFlight) : options.stages;
  }
  return options;
}

std::vector<int64_t> schedule::activationsInFlight(const Table &table) {
  const bool isTraining = std::any_of(
      table.ranks.begin(), table.ranks.end(),
      [](const std::vector<Action> &actions) {
        return std::any_of(actions.begin(), actions.end(),
                           [](const Action &action) {
                             return action.kind == ActionKind::Backward ||
                                    action.kind == ActionKind::WeightGradient;
                           });
      });
  std::vector<int64_t> result;
  for (const std::vector<Action> &actions : table.ranks) {
    int64_t kept = 0, most = 0;
    for (const Action &action : actions) {
      kept += action.kind == ActionKind::Forward;
      most = std::max(most, kept);
      // Without a backward pass nothing is kept after the forward pass.
      kept -= isTraining ? action.kind == ActionKind::Backward ||
                               action.kind == ActionKind::WeightGradient
                         : action.kind == ActionKind::Forward;
    }
    result.push_back(most);
  }
  return result;
}
