//===- Versions.cpp - Versions of weights that a table needs --------------===//

#include "runtime/schedule/Versions.h"
#include "runtime/schedule/StageRanks.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

bool schedule::isAsynchronous(const Table &table) {
  std::vector<int32_t> updatedOn(size_t(table.countStages()), kNone);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank]) {
      if (action.kind == ActionKind::Step)
        updatedOn[size_t(action.stage)] = int32_t(rank);
      else if (isPass(action.kind) &&
               (action.version > 0 ||
                updatedOn[size_t(action.stage)] == int32_t(rank)))
        return true;
    }
  return false;
}

namespace {

/// The lists of the ranks that have a stage, which update it together.
class StageReader {
public:
  StageReader(const Table &table, const std::vector<int32_t> &ranks,
              int32_t stage)
      : table(table), ranks(ranks), stage(stage),
        microBatches(table.countMicroBatches()) {}

  StageVersions read() {
    StageVersions found;
    found.updateOf.assign(size_t(microBatches), 0);
    for (int32_t rank : ranks) {
      uses.emplace_back();
      readRank(table.ranks[size_t(rank)], uses.back(), found);
    }
    if (isReadAfterUpdate)
      findSlots(found);
    else
      found.slotOf.resize(found.gradients.size() + 1, 0);
    return found;
  }

private:
  /// On a rank: the last action that reads each version, and those that make
  /// them.
  struct Uses {
    std::vector<int64_t> last = {-1}, steps;
  };

  /// Finds uses, and adds the rank's gradients to those of others.
  void readRank(const std::vector<Action> &actions, Uses &own,
                StageVersions &found) {
    int64_t gradients = 0;
    for (int64_t i = 0; i < int64_t(actions.size()); ++i) {
      const Action &action = actions[size_t(i)];
      if (action.stage != stage)
        continue;
      const size_t newest = own.steps.size();
      if (makesGradient(action.kind)) {
        found.updateOf[size_t(action.microBatch)] = int32_t(newest);
        ++gradients;
      }
      if (action.kind == ActionKind::Step) {
        if (found.gradients.size() == newest)
          found.gradients.push_back(0);
        found.gradients[newest] += gradients;
        gradients = 0;
        own.last.push_back(-1);
        own.steps.push_back(i);
      } else if (isPass(action.kind)) {
        const size_t read =
            action.version == kNone ? newest : size_t(action.version);
        own.last[read] = i;
        isReadAfterUpdate |= read < newest;
      }
    }
  }

  /// Whether any rank reads the version after an update.
  bool isReadAfter(int32_t version, size_t update) const {
    return std::any_of(uses.begin(), uses.end(), [&](const Uses &own) {
      return own.last[size_t(version)] > own.steps[update];
    });
  }

  /// The same slots on all ranks.
  void findSlots(StageVersions &found) {
    std::vector<int32_t> free;
    found.slots = 1;
    // Versions whose slots are not free yet.
    std::vector<int32_t> kept = {0};
    for (size_t update = 0; update < found.gradients.size(); ++update) {
      auto isRead = [&](int32_t version) {
        return version == int32_t(update) || isReadAfter(version, update);
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

  const Table &table;
  const std::vector<int32_t> &ranks;
  const int32_t stage, microBatches;
  std::vector<Uses> uses;
  /// Whether a pass reads a version when there is a newer one.
  bool isReadAfterUpdate = false;
};

} // namespace

/// An error unless all ranks of a stage update it as often.
static Status checkSteps(const Table &table, const std::vector<int32_t> &ranks,
                         int32_t stage) {
  std::vector<int64_t> steps;
  for (int32_t rank : ranks) {
    const std::vector<Action> &actions = table.ranks[size_t(rank)];
    steps.push_back(std::count_if(
        actions.begin(), actions.end(), [&](const Action &action) {
          return action.stage == stage && action.kind == ActionKind::Step;
        }));
    if (steps.back() != steps.front())
      return Status::badFile(
          "rank " + std::to_string(ranks.front()) + " updates stage " +
          std::to_string(stage) + " " + std::to_string(steps.front()) +
          " times, and rank " + std::to_string(rank) + " " +
          std::to_string(steps.back()) + " times; update it together");
  }
  return Status::success();
}

Status schedule::findVersions(const Table &table,
                              std::vector<StageVersions> &stages) {
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions)
      if (action.slice != kNone)
        return Status::error(MLC_UNSUPPORTED,
                             toString(action) +
                                 " is of a slice, beside versions of weights");
  const std::vector<std::vector<int32_t>> ranks = findRanks(table);
  stages.clear();
  for (size_t stage = 0; stage < ranks.size(); ++stage) {
    if (ranks[stage].empty())
      return Status::error(MLC_USAGE,
                           "no rank has stage " + std::to_string(stage));
    if (Status status = checkSteps(table, ranks[stage], int32_t(stage));
        !status.ok())
      return status;
    stages.push_back(StageReader(table, ranks[stage], int32_t(stage)).read());
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
