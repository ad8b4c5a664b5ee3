//===- Updates.cpp - Gathers, sums and updates, and tables without --------===//

#include "runtime/schedule/StageRanks.h"
#include "runtime/schedule/Transfers.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

using Kind = ActionKind;

std::vector<std::vector<int32_t>> schedule::findRanks(const Table &table) {
  std::vector<std::vector<int32_t>> ranks(size_t(table.countStages()));
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank]) {
      std::vector<int32_t> &having = ranks[size_t(action.stage)];
      if (isPass(action.kind) &&
          (having.empty() || having.back() != int32_t(rank)))
        having.push_back(int32_t(rank));
    }
  return ranks;
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

namespace {

/// Adds the gathers of one rank.
class Gathers {
public:
  Gathers(std::vector<Action> &actions,
          const std::vector<std::vector<int32_t>> &ranks, size_t most)
      : actions(actions), ranks(ranks), most(most) {}

  void add() {
    findStages();
    std::vector<Action> result;
    result.reserve(actions.size() + 2 * shared.size());
    for (int32_t stage : shared)
      result.push_back({Kind::Unshard, stage});
    for (size_t i = 0; i < actions.size(); ++i) {
      if (isPass(actions[i].kind) && !isInsideGroup(i))
        prepare(i, result);
      result.push_back(actions[i]);
    }
    for (const std::vector<int32_t> *stages : {&gathered, &shared})
      for (int32_t stage : *stages)
        result.push_back({Kind::Reshard, stage});
    actions = std::move(result);
  }

private:
  struct Stage {
    int32_t number;
    std::vector<size_t> uses;
    size_t next = 0;
  };

  /// Whether an action overlaps with the one before it.
  bool isInsideGroup(size_t i) const {
    return i && actions[i].overlap != kNone &&
           actions[i].overlap == actions[i - 1].overlap;
  }

  void findStages() {
    for (size_t i = 0; i < actions.size(); ++i) {
      if (!isPass(actions[i].kind))
        continue;
      const int32_t number = actions[i].stage;
      if (ranks[size_t(number)].size() > 1) {
        shared.push_back(number);
        continue;
      }
      auto found = std::find_if(own.begin(), own.end(), [&](const Stage &one) {
        return one.number == number;
      });
      if (found == own.end())
        found = own.insert(own.end(), Stage{number, {}});
      found->uses.push_back(i);
    }
    std::sort(shared.begin(), shared.end());
    shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
  }

  /// The stages that are used next, from action `i` on, the first ones first.
  std::vector<int32_t> findNext(size_t i) {
    std::vector<std::pair<size_t, int32_t>> next;
    for (Stage &stage : own) {
      while (stage.next < stage.uses.size() && stage.uses[stage.next] < i)
        ++stage.next;
      if (stage.next < stage.uses.size())
        next.push_back({stage.uses[stage.next], stage.number});
    }
    std::sort(next.begin(), next.end());
    // What overlaps is needed at once.
    size_t end = i + 1;
    while (end < actions.size() && isInsideGroup(end))
      ++end;
    std::vector<int32_t> stages;
    for (const auto &[use, number] : next)
      if (stages.size() < most || use < end)
        stages.push_back(number);
    return stages;
  }

  void prepare(size_t i, std::vector<Action> &result) {
    const std::vector<int32_t> next = findNext(i);
    auto isIn = [](const std::vector<int32_t> &stages, int32_t stage) {
      return std::find(stages.begin(), stages.end(), stage) != stages.end();
    };
    for (int32_t stage : gathered)
      if (!isIn(next, stage))
        result.push_back({Kind::Reshard, stage});
    for (int32_t stage : next)
      if (!isIn(gathered, stage))
        result.push_back({Kind::Unshard, stage});
    gathered = next;
  }

  std::vector<Action> &actions;
  const std::vector<std::vector<int32_t>> &ranks;
  size_t most;
  std::vector<Stage> own;
  std::vector<int32_t> shared, gathered;
};

} // namespace

Status schedule::addShards(Table &table, int32_t most) {
  if (most < 1)
    return Status::error(MLC_USAGE, "the weights of at least one stage are "
                                    "gathered, not of " +
                                        std::to_string(most));
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank])
      if (action.kind == Kind::Unshard || action.kind == Kind::Reshard)
        return Status::badFile("rank " + std::to_string(rank) + ": " +
                               toString(action) +
                               " is there already; add gathers once");
  const std::vector<std::vector<int32_t>> ranks = findRanks(table);
  for (std::vector<Action> &actions : table.ranks)
    Gathers(actions, ranks, size_t(most)).add();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

void schedule::addUpdates(Table &table) {
  std::vector<bool> isSummed(size_t(table.countStages()));
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions) {
      if (action.kind == Kind::Step)
        return;
      if (action.kind == Kind::ReduceGradients)
        isSummed[size_t(action.stage)] = true;
    }
  const std::vector<std::vector<int32_t>> ranks = findRanks(table);
  for (std::vector<Action> &actions : table.ranks) {
    std::vector<int32_t> stages;
    for (const Action &action : actions)
      if (makesGradient(action.kind))
        stages.push_back(action.stage);
    std::sort(stages.begin(), stages.end());
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    // All ranks add in the order of stages, so none waits for another's.
    for (int32_t stage : stages)
      if (ranks[size_t(stage)].size() > 1 && !isSummed[size_t(stage)])
        actions.push_back({Kind::ReduceGradients, stage});
    for (int32_t stage : stages)
      actions.push_back({Kind::Step, stage});
  }
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static bool isOfForward(Kind kind) {
  switch (kind) {
  case Kind::Forward:
  case Kind::SendForward:
  case Kind::ReceiveForward:
  case Kind::WaitSendForward:
  case Kind::Unshard:
  case Kind::Reshard:
    return true;
  default:
    return false;
  }
}

Status schedule::keepForward(Table &table) {
  Table result;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    std::vector<Action> &kept = result.ranks.emplace_back();
    bool isUpdated = false;
    for (Action action : table.ranks[rank]) {
      isUpdated |= action.kind == Kind::Step;
      if (action.version != kNone || (isUpdated && isPass(action.kind)))
        return Status::badFile("rank " + std::to_string(rank) + ", " +
                               toString(action) +
                               ": passes of the table depend on updates, "
                               "which inference has none of; give a "
                               "synchronous schedule");
      action.overlap = kNone;
      if (isOfForward(action.kind))
        kept.push_back(action);
    }
    if (kept.empty())
      return Status::badFile("rank " + std::to_string(rank) +
                             " has no forward pass");
  }
  table = std::move(result);
  return Status::success();
}
