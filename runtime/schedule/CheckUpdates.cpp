//===- CheckUpdates.cpp - Gradients, updates and versions of weights ------===//

#include "runtime/schedule/CheckParts.h"

#include <map>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

/// What a rank has of a stage, after some of its actions.
struct TableCheck::StageUpdates {
  /// The newest version, which is the number of updates.
  int32_t current = 0;
  /// Gradients since the last update, and since the last sum over ranks.
  int64_t pending = 0, unsummed = 0;
  bool hasSums = false, hasWaits = false, isSumOpen = false;
  ActionPlace lastGradient, lastStep;
  /// NORM of the next update, if it has run.
  ActionPlace norm;
  /// How many micro-batches between the passes read each version.
  std::map<int32_t, int64_t> kept = {};
};

static std::string versionText(int32_t version) {
  return "version " + std::to_string(version);
}

/// How many micro-batches an update of the stage takes beside those of others:
/// with weight stashing one of each rank that shares the stage.
int64_t TableCheck::updateWeight(size_t stage) const {
  return options.promise.kind == Promise::Stashing
             ? int64_t(ranksOf[stage].size())
             : 1;
}

/// Finds what each rank of a stage has in flight in a full pipeline: the ranks
/// from the stage on, over those that share the stage.
void TableCheck::findInFlight() {
  inFlight.resize(size_t(stages));
  size_t ranks = 0;
  for (size_t stage = size_t(stages); stage-- > 0;) {
    const size_t own = ranksOf[stage].size();
    ranks += own;
    inFlight[stage] = int32_t((ranks + own - 1) / own);
  }
}

bool TableCheck::checkUpdates() {
  findInFlight();
  versions.assign(size_t(stages) * size_t(microBatches) * size_t(slices), 0);
  std::vector<StageUpdates> states;
  states.resize(size_t(stages));
  std::vector<int32_t> counts(size_t(stages), 0);
  updates = std::max<int64_t>(options.updates, 0);
  for (const std::vector<Action> &actions : table.ranks) {
    for (const Action &action : actions)
      if (action.kind == ActionKind::Step)
        updates = std::max(updates, ++counts[size_t(action.stage)] *
                                        updateWeight(size_t(action.stage)));
    for (const Action &action : actions)
      counts[size_t(action.stage)] = 0;
  }
  perUpdate = options.promise.perUpdate;
  if (perUpdate == kNone)
    perUpdate = int32_t(
        std::max<int64_t>(1, microBatches / std::max<int64_t>(1, updates)));
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    const std::vector<Action> &actions = table.ranks[rank];
    for (const Action &action : actions) {
      StageUpdates &stage = states[size_t(action.stage)];
      stage.hasSums |= action.kind == ActionKind::ReduceGradients;
      stage.hasWaits |= action.kind == ActionKind::WaitReduceGradients;
    }
    for (size_t i = 0; i < actions.size(); ++i)
      if (!takeAction(states[size_t(actions[i].stage)],
                      {int32_t(rank), int32_t(i)}))
        return false;
    for (const Action &action : actions) {
      StageUpdates &stage = states[size_t(action.stage)];
      if (action.kind == ActionKind::Forward &&
          !finishUpdates(stage, int32_t(rank), action.stage))
        return false;
    }
    for (const Action &action : actions)
      states[size_t(action.stage)] = StageUpdates();
  }
  return true;
}

bool TableCheck::takeAction(StageUpdates &stage, const ActionPlace &place) {
  switch (at(place).kind) {
  case ActionKind::Forward:
    return takeForward(stage, place);
  case ActionKind::InputGradient:
    return checkVersion(stage, place);
  case ActionKind::WeightGradient:
  case ActionKind::Backward:
    return checkVersion(stage, place) && takeGradient(stage, place);
  case ActionKind::ReduceGradients:
    return takeSum(stage, place);
  case ActionKind::WaitReduceGradients:
    if (!stage.isSumOpen)
      return refuse(place, "no sum of gradients is under way");
    stage.isSumOpen = false;
    return true;
  case ActionKind::Norm:
    return takeNorm(stage, place);
  case ActionKind::Step:
    return checkVersion(stage, place) && takeStep(stage, place);
  default:
    return true;
  }
}

bool TableCheck::takeForward(StageUpdates &stage, const ActionPlace &place) {
  const Action &action = at(place);
  int32_t version = action.version == kNone ? stage.current : action.version;
  versions[itemOf(action)] = version;
  if (!checkVersion(stage, place))
    return false;
  if (hasBackward)
    ++stage.kept[version];
  return checkKept(stage, place);
}

/// Forward passes set what their backward pass is compared with.
bool TableCheck::checkVersion(StageUpdates &stage, const ActionPlace &place) {
  const Action &action = at(place);
  bool isStep = action.kind == ActionKind::Step;
  int32_t version = action.version == kNone ? stage.current : action.version;
  if (version < 0 || version > stage.current)
    return refuse(place, "it reads " + versionText(version) +
                             ", but the rank has no newer one than " +
                             versionText(stage.current));
  const Promise &promise = options.promise;
  int32_t promised = stage.current;
  const char *why = "the newest";
  if (!isStep && promise.kind == Promise::Synchronous) {
    if (stage.current > 0)
      return refuse(place, "it comes after the update at " +
                               describe(stage.lastStep) +
                               "; a synchronous step reads one version");
  } else if (!isStep && promise.kind == Promise::TwoVersions) {
    promised = std::max(action.microBatch / perUpdate - 1, 0);
    why = "that of its micro-batch";
  } else if (!isStep && promise.kind == Promise::Stashing &&
             action.kind != ActionKind::Forward) {
    promised = versions[itemOf(action)];
    why = "that of its forward pass";
  }
  if (version != promised)
    return refuse(place, "it reads " + versionText(version) + ", promised is " +
                             versionText(promised) + ", " + why);
  if (promise.kind == Promise::TwoVersions && version + 1 < stage.current)
    return refuse(place, "it reads " + versionText(version) +
                             ", which is gone: two are kept, the newest is " +
                             versionText(stage.current));
  return true;
}

/// Weight stashing has room for so many versions.
bool TableCheck::checkKept(StageUpdates &stage, const ActionPlace &place) {
  if (options.promise.kind != Promise::Stashing)
    return true;
  int32_t most = options.promise.most == kNone
                     ? inFlight[size_t(at(place).stage)]
                     : options.promise.most;
  size_t kept = stage.kept.size() + (stage.kept.count(stage.current) ? 0 : 1);
  if (kept <= size_t(most))
    return true;
  return refuse(place, std::to_string(kept) + " versions of the weights are " +
                           "needed, promised are " + std::to_string(most));
}

bool TableCheck::takeGradient(StageUpdates &stage, const ActionPlace &place) {
  const Action &action = at(place);
  int32_t version = versions[itemOf(action)];
  if (auto kept = stage.kept.find(version);
      kept != stage.kept.end() && --kept->second == 0)
    stage.kept.erase(kept);
  const Promise &promise = options.promise;
  if (promise.kind == Promise::BoundedStaleness && promise.most != kNone &&
      stage.current - version > promise.most)
    return refuse(place, std::to_string(stage.current - version) +
                             " updates came after its forward pass, promised "
                             "are at most " +
                             std::to_string(promise.most));
  if (promise.kind == Promise::TwoVersions &&
      action.microBatch / perUpdate != stage.current)
    return refuse(place, "its gradient belongs to " +
                             versionText(action.microBatch / perUpdate + 1) +
                             ", the rank adds those of " +
                             versionText(stage.current + 1));
  if (stage.norm.exists())
    return refuse(place, describe(stage.norm) +
                             " is before it; NORM needs all gradients of the "
                             "update");
  if (!checkOrderOfSums(stage, place))
    return false;
  ++stage.pending;
  ++stage.unsummed;
  stage.lastGradient = place;
  return true;
}

bool TableCheck::checkOrderOfSums(StageUpdates &stage,
                                  const ActionPlace &place) {
  if (options.sumOrder == CheckOptions::AnyOrder ||
      !stage.lastGradient.exists())
    return true;
  const Action &action = at(place), &last = at(stage.lastGradient);
  bool isRising = options.sumOrder == CheckOptions::Rising;
  if (last.microBatch == action.microBatch
          ? last.slice > action.slice
          : (last.microBatch < action.microBatch) == isRising)
    return true;
  return refuse(place, "it adds to the stage's gradients after " +
                           describe(stage.lastGradient) +
                           "; promised is the order of micro-batches, " +
                           (isRising ? "rising" : "falling"));
}

bool TableCheck::takeSum(StageUpdates &stage, const ActionPlace &place) {
  if (stage.unsummed == 0)
    return refuse(place, "no gradient was added since the last sum");
  if (stage.isSumOpen && stage.hasWaits)
    return refuse(place, "a sum is under way; WAIT_REDUCE_GRAD for it before");
  stage.unsummed = 0;
  stage.isSumOpen = true;
  return true;
}

/// NORM and STEP need the gradients of all ranks of the stage.
bool TableCheck::checkSummed(const StageUpdates &stage,
                             const ActionPlace &place) {
  const char *what = at(place).kind == ActionKind::Norm ? "NORM" : "the update";
  const bool needsSum =
      stage.hasSums || ranksOf[size_t(at(place).stage)].size() > 1;
  if (needsSum && stage.unsummed)
    return refuse(place, "the gradient of " + describe(stage.lastGradient) +
                             " is not summed over the stage's ranks; "
                             "REDUCE_GRAD before " +
                             what);
  if (stage.isSumOpen && stage.hasWaits)
    return refuse(place, std::string("the sum of gradients is under way; "
                                     "WAIT_REDUCE_GRAD before ") +
                             what);
  return true;
}

bool TableCheck::takeNorm(StageUpdates &stage, const ActionPlace &place) {
  if (stage.norm.exists())
    return refuse(place, "it is there twice for one update, first at " +
                             describe(stage.norm));
  if (stage.pending == 0)
    return refuse(place, stage.lastStep.exists()
                             ? "no gradient was added since the update at " +
                                   describe(stage.lastStep) +
                                   "; NORM comes before the update"
                             : "the stage has no gradient yet; NORM comes "
                               "after all of an update");
  if (!checkSummed(stage, place))
    return false;
  stage.norm = place;
  return true;
}

bool TableCheck::takeStep(StageUpdates &stage, const ActionPlace &place) {
  const Action &action = at(place);
  if (stage.pending == 0)
    return refuse(place, "no gradient was added since the last update");
  if (action.microBatch != kNone && action.microBatch != stage.current + 1)
    return refuse(place, "it makes " + versionText(action.microBatch) +
                             ", the next is " + versionText(stage.current + 1));
  if (!checkSummed(stage, place))
    return false;
  stage.pending = 0;
  stage.norm = ActionPlace();
  ++stage.current;
  stage.lastStep = place;
  return checkKept(stage, place);
}

bool TableCheck::finishUpdates(StageUpdates &stage, int32_t rank,
                               int32_t number) {
  if (!hasBackward || !stage.lastGradient.exists())
    return true;
  if (stage.hasSums && stage.unsummed)
    return refuse(stage.lastGradient, "its gradient is never summed over the "
                                      "stage's ranks; REDUCE_GRAD after it");
  if (stage.isSumOpen && stage.hasWaits)
    return refuseMissing(rank, std::to_string(number) + "WAIT_REDUCE_GRAD",
                         "every sum is waited for");
  if (hasSteps && stage.pending)
    return refuse(stage.lastGradient,
                  "its gradient never reaches an update; STEP after it");
  const int64_t weight = updateWeight(size_t(number));
  const int64_t needed =
      options.updates != kNone ? updates : (updates + weight - 1) / weight;
  if (stage.current < needed)
    return refuseMissing(rank, std::to_string(number) + "STEP",
                         "stages are updated " + std::to_string(needed) +
                             " times, this one " +
                             std::to_string(stage.current) + " times");
  if (options.updates != kNone && stage.current > options.updates)
    return refuse(stage.lastStep, "stages are updated " +
                                      std::to_string(options.updates) +
                                      " times only");
  return true;
}
