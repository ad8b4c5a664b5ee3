//===- Versions.cpp - Versions of weights that a table needs --------------===//

#include "runtime/schedule/Versions.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

static bool isPass(const Action &action) {
  return isCompute(action.kind) && hasMicroBatch(action.kind);
}

bool schedule::isAsynchronous(const Table &table) {
  std::vector<int32_t> updatedOn(size_t(table.countStages()), kNone);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank]) {
      if (action.kind == ActionKind::Step)
        updatedOn[size_t(action.stage)] = int32_t(rank);
      else if (isPass(action) &&
               (action.version > 0 ||
                updatedOn[size_t(action.stage)] == int32_t(rank)))
        return true;
    }
  return false;
}

namespace {

/// The list of the rank that has a stage.
class StageReader {
public:
  StageReader(const std::vector<Action> &actions, int32_t stage,
              int32_t microBatches)
      : actions(actions), stage(stage), microBatches(microBatches) {}

  StageVersions read() {
    findUses();
    StageVersions found;
    found.updateOf.assign(size_t(microBatches), 0);
    int64_t gradients = 0;
    for (const Action &action : actions) {
      if (action.stage != stage)
        continue;
      if (action.kind == ActionKind::Backward ||
          action.kind == ActionKind::WeightGradient) {
        found.updateOf[size_t(action.microBatch)] =
            int32_t(found.gradients.size());
        ++gradients;
      }
      if (action.kind == ActionKind::Step) {
        found.gradients.push_back(gradients);
        gradients = 0;
      }
    }
    if (isReadAfterUpdate)
      findSlots(found);
    else
      found.slotOf.resize(found.gradients.size() + 1, 0);
    return found;
  }

private:
  /// Finds the last action that reads each version, and when it is made.
  void findUses() {
    int32_t newest = 0;
    lastUse = {-1};
    for (int64_t i = 0; i < int64_t(actions.size()); ++i) {
      const Action &action = actions[size_t(i)];
      if (action.stage != stage)
        continue;
      if (action.kind == ActionKind::Step) {
        lastUse.push_back(-1);
        steps.push_back(i);
        ++newest;
      } else if (isPass(action)) {
        const int32_t read = action.version == kNone ? newest : action.version;
        lastUse[size_t(read)] = i;
        isReadAfterUpdate |= read < newest;
      }
    }
  }

  void findSlots(StageVersions &found) {
    std::vector<int32_t> free;
    found.slots = 1;
    // Versions whose slots are not free yet.
    std::vector<int32_t> kept = {0};
    for (size_t update = 0; update < steps.size(); ++update) {
      auto isRead = [&](int32_t version) {
        return version == int32_t(update) ||
               lastUse[size_t(version)] > steps[update];
      };
      for (int32_t version : kept)
        if (!isRead(version))
          free.push_back(found.slotOf[size_t(version)]);
      kept.erase(std::remove_if(kept.begin(), kept.end(),
                                [&](int32_t one) { return !isRead(one); }),
                 kept.end());
      if (free.empty())
        free.push_back(found.slots++);
      const auto first = std::min_element(free.begin(), free.end());
      found.slotOf.push_back(*first);
      free.erase(first);
      kept.push_back(int32_t(update) + 1);
    }
  }

  const std::vector<Action> &actions;
  const int32_t stage, microBatches;
  std::vector<int64_t> lastUse, steps;
  /// Whether a pass reads a version when there is a newer one.
  bool isReadAfterUpdate = false;
};

} // namespace

Status schedule::findVersions(const Table &table,
                              std::vector<StageVersions> &stages) {
  constexpr int64_t none = -1;
  std::vector<int64_t> rankOf(size_t(table.countStages()), none);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank]) {
      if (action.slice != kNone)
        return Status::error(MLC_UNSUPPORTED,
                             toString(action) +
                                 " is of a slice, beside versions of weights");
      if (!isCompute(action.kind))
        continue;
      int64_t &known = rankOf[size_t(action.stage)];
      if (known != none && known != int64_t(rank))
        return Status::error(
            MLC_UNSUPPORTED,
            "stage " + std::to_string(action.stage) + " is on ranks " +
                std::to_string(known) + " and " + std::to_string(rank) +
                ", beside versions of weights; give it one rank");
      known = int64_t(rank);
    }
  stages.clear();
  for (size_t stage = 0; stage < rankOf.size(); ++stage) {
    if (rankOf[stage] == none)
      return Status::error(MLC_USAGE,
                           "no rank has stage " + std::to_string(stage));
    stages.push_back(StageReader(table.ranks[size_t(rankOf[stage])],
                                 int32_t(stage), table.countMicroBatches())
                         .read());
  }
  return Status::success();
}

Status schedule::checkPromises(const Table &table, CheckOptions options) {
  if (!isAsynchronous(table))
    return check(table, options);
  Status status;
  // The last one's error is told: its promise is the widest.
  for (Promise::Kind kind :
       {Promise::BoundedStaleness, Promise::TwoVersions, Promise::Stashing}) {
    options.promise = {kind};
    status = check(table, options);
    if (status.ok())
      return status;
  }
  return status;
}
