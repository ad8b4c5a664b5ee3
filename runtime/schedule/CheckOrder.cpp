//===- CheckOrder.cpp - What a table has, and the order of computation ----===//

#include "runtime/schedule/CheckParts.h"
#include "runtime/schedule/StageRanks.h"

#include <tuple>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

static bool isBackward(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::InputGradient ||
         kind == ActionKind::WeightGradient;
}

bool TableCheck::findSizes() {
  stages = options.stages != kNone ? options.stages : table.countStages();
  microBatches = options.microBatches != kNone ? options.microBatches
                                               : table.countMicroBatches();
  slices = options.slices != kNone ? options.slices : table.countSlices();
  isSliced = options.slices != kNone && options.slices > 1;
  hasBackward = options.isTraining;
  hasTransfers = table.hasTransfers();
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions) {
      isSliced |= action.slice != kNone;
      hasBackward |= isBackward(action.kind);
      hasSteps |= action.kind == ActionKind::Step;
    }
  hasSteps |= options.updates != kNone && options.updates > 0;
  return true;
}

bool TableCheck::checkNumbers() {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      ActionPlace place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      if (action.stage < 0 || action.stage >= stages)
        return refuse(place, "there are " + std::to_string(stages) +
                                 " stages, numbered from 0");
      if (!hasMicroBatch(action.kind))
        continue;
      if (action.microBatch < 0 || action.microBatch >= microBatches)
        return refuse(place, "there are " + std::to_string(microBatches) +
                                 " micro-batches, numbered from 0");
      if (action.slice < kNone || action.slice >= slices)
        return refuse(place, "a micro-batch has " + std::to_string(slices) +
                                 " slices, numbered from 0");
      if (isSliced != (action.slice != kNone))
        return refuse(place, action.slice == kNone
                                 ? "it is about a whole micro-batch, others "
                                   "are about slices; name its slice"
                                 : "it is about a slice, others are about "
                                   "whole micro-batches");
    }
  return true;
}

/// Afterwards there are at most as many items as actions.
bool TableCheck::countForwards() {
  using Key = std::tuple<int32_t, int32_t, int32_t>;
  std::vector<Key> keys;
  for (const std::vector<Action> &actions : table.ranks)
    for (const Action &action : actions)
      if (action.kind == ActionKind::Forward)
        keys.emplace_back(action.stage, action.microBatch,
                          std::max(action.slice, 0));
  std::sort(keys.begin(), keys.end());
  Key expected{0, 0, 0};
  auto &[stage, microBatch, slice] = expected;
  for (const Key &key : keys) {
    if (key < expected) // twice
      continue;
    if (key != expected)
      break;
    if (++slice < slices)
      continue;
    slice = 0;
    if (++microBatch < microBatches)
      continue;
    microBatch = 0;
    ++stage;
  }
  if (stage >= stages && !keys.empty())
    return true;
  int32_t rank = 0;
  Action action;
  std::tie(action.stage, action.microBatch, action.slice) = expected;
  if (!isSliced)
    action.slice = kNone;
  for (size_t i = 0; i < table.ranks.size(); ++i)
    for (const Action &other : table.ranks[i])
      if (other.stage == stage && isCompute(other.kind))
        rank = int32_t(i);
  return refuseMissing(rank, toString(action),
                       "every stage runs every micro-batch once");
}

bool TableCheck::findStages() {
  if (!findReads())
    return false;
  ranksOf.resize(size_t(stages));
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank])
      if (std::vector<int32_t> &ranks = ranksOf[size_t(action.stage)];
          (action.kind == ActionKind::Forward || isBackward(action.kind)) &&
          (ranks.empty() || ranks.back() != int32_t(rank)))
        ranks.push_back(int32_t(rank));
  numberEdges();
  return true;
}

bool TableCheck::placeActions() {
  const size_t items = size_t(stages) * size_t(microBatches) * size_t(slices);
  places.resize(size_t(ActionKind::Step) + 1);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      ActionPlace place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      if (!hasMicroBatch(action.kind)) {
        const std::vector<int32_t> &ranks = ranksOf[size_t(action.stage)];
        if (!std::binary_search(ranks.begin(), ranks.end(), place.rank))
          return refuse(place, "the rank does not run the stage");
        continue;
      }
      if (isSend(action.kind) || isReceive(action.kind)) {
        if (!placeTransfer(place))
          return false;
        continue;
      }
      std::vector<ActionPlace> &ofKind = places[size_t(action.kind)];
      if (ofKind.empty())
        ofKind.resize(items);
      ActionPlace &first = ofKind[itemOf(action)];
      if (first.exists())
        return refuse(place, "it is there twice, first at " + describe(first));
      first = place;
    }
  // Kinds that the table has not are missing everywhere.
  for (size_t kind = 0; kind < places.size(); ++kind)
    if (isCompute(ActionKind(kind)))
      places[kind].resize(items);
  for (size_t item = 0; item < items; ++item)
    if (!checkItem(item))
      return false;
  for (size_t item = 0; item < items; ++item)
    for (ActionKind kind :
         {ActionKind::Forward, ActionKind::Backward, ActionKind::InputGradient,
          ActionKind::WeightGradient})
      if (!checkNeeds(placeOf(kind, item)))
        return false;
  return true;
}

/// A forward pass and one backward pass, on one rank.
bool TableCheck::checkItem(size_t item) {
  const ActionPlace &forward = placeOf(ActionKind::Forward, item),
                    &both = placeOf(ActionKind::Backward, item),
                    &input = placeOf(ActionKind::InputGradient, item),
                    &weight = placeOf(ActionKind::WeightGradient, item);
  for (const ActionPlace *place : {&both, &input, &weight})
    if (place->exists() && place->rank != forward.rank)
      return refuse(*place, "its forward pass runs elsewhere, at " +
                                describe(forward) +
                                "; only that rank has the activations");
  if (!hasBackward)
    return true;
  if (both.exists() && (input.exists() || weight.exists()))
    return refuse(input.exists() ? input : weight,
                  "the gradient is computed twice, also by " + describe(both));
  if (both.exists() || (input.exists() && weight.exists()))
    return true;
  ActionKind missing = input.exists()    ? ActionKind::WeightGradient
                       : weight.exists() ? ActionKind::InputGradient
                                         : ActionKind::Backward;
  return refuseMissing(forward.rank, nameOf(missing, item),
                       "every forward pass has a backward pass");
}

bool TableCheck::checkNeeds(const ActionPlace &place) {
  return !place.exists() || forNeeds(at(place), [&](const ActionPlace &needed) {
    return checkNeed(place, needed);
  });
}

/// What other ranks compute is seen when the table runs.
bool TableCheck::checkNeed(const ActionPlace &place,
                           const ActionPlace &needed) {
  if (needed.rank != place.rank)
    return true;
  if (needed.index > place.index)
    return refuse(place,
                  "it runs before " + describe(needed) + ", which it needs");
  if (at(place).overlap != kNone && at(place).overlap == at(needed).overlap)
    return refuse(place, "it overlaps with " + toString(at(needed)) +
                             ", which it needs; run them one after the other");
  return true;
}

bool TableCheck::checkSlots() {
  if (options.slots == kNone || !hasBackward)
    return true;
  std::vector<int32_t> kept(size_t(stages), 0);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      ActionPlace place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      int32_t &count = kept[size_t(action.stage)];
      if (action.kind == ActionKind::Backward ||
          action.kind == ActionKind::WeightGradient)
        --count; // every forward pass on this rank has one
      if (action.kind != ActionKind::Forward || ++count <= options.slots)
        continue;
      // The oldest that is kept stands before it.
      for (int32_t j = 0;; ++j) {
        ActionPlace other{place.rank, j};
        if (at(other).kind != ActionKind::Forward ||
            at(other).stage != action.stage)
          continue;
        ActionPlace last = lastOf(itemOf(at(other)));
        if (j == place.index || last.index > place.index)
          return refuse(place, "it writes a slot that is needed until " +
                                   describe(last) + "; stage " +
                                   std::to_string(action.stage) + " has " +
                                   std::to_string(options.slots) + " slots");
      }
    }
  return true;
}

bool TableCheck::checkShards() {
  enum State : uint8_t { Whole, Sharded, Gathered };
  std::vector<State> states(size_t(stages), Whole);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    const std::vector<Action> &actions = table.ranks[rank];
    // A stage that is gathered or dropped anywhere begins sharded.
    for (const Action &action : actions)
      if (action.kind == ActionKind::Unshard ||
          action.kind == ActionKind::Reshard)
        states[size_t(action.stage)] = Sharded;
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action &action = actions[i];
      ActionPlace place{int32_t(rank), int32_t(i)};
      State &state = states[size_t(action.stage)];
      if (action.kind == ActionKind::Unshard) {
        if (state == Gathered)
          return refuse(place, "the weights are gathered already");
        state = Gathered;
      } else if (action.kind == ActionKind::Reshard) {
        if (state == Sharded)
          return refuse(place, "the weights are not gathered");
        state = Sharded;
      } else if (state == Sharded && isPass(action.kind)) {
        return refuse(place, "the weights are sharded; UNSHARD them before");
      }
    }
    for (const Action &action : actions) {
      State &state = states[size_t(action.stage)];
      if (state == Gathered)
        return refuseMissing(int32_t(rank),
                             std::to_string(action.stage) + "RESHARD",
                             "weights that are gathered are dropped again");
      state = Whole;
    }
  }
  return true;
}
