//===- Synchronous.cpp - Schedules with one update for all ----------------===//

#include "runtime/schedule/Families.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

using Kind = ActionKind;

Status schedule::makeDataParallel(const Sizes &sizes, Table &table) {
  if (sizes.microBatches < sizes.ranks)
    return Status::error(MLC_USAGE,
                         "data-parallel deals micro-batches to ranks, and of " +
                             std::to_string(sizes.ranks) + " ranks only " +
                             std::to_string(sizes.microBatches) +
                             " get one; give more micro-batches or fewer "
                             "ranks");
  for (int32_t rank = 0; rank < sizes.ranks; ++rank) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    for (int32_t i = rank; i < sizes.microBatches; i += sizes.ranks) {
      actions.push_back({Kind::Forward, 0, i});
      actions.push_back({Kind::Backward, 0, i});
    }
    if (sizes.ranks > 1)
      actions.push_back({Kind::ReduceGradients, 0});
    actions.push_back({Kind::Step, 0});
  }
  return Status::success();
}

std::vector<StageShare> schedule::sharesOf(const Sizes &sizes) {
  std::vector<StageShare> shares;
  int32_t left = sizes.ranks;
  for (int32_t stage = 0; stage < sizes.stages; ++stage) {
    const int32_t replicas = sizes.replicas[size_t(stage)];
    for (int32_t i = 0; i < replicas; ++i)
      shares.push_back({stage, i, replicas, left});
    left -= replicas;
  }
  return shares;
}

Status schedule::makeGpipe(const Sizes &sizes, Table &table) {
  for (const StageShare &share : sharesOf(sizes)) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    for (Kind kind : {Kind::Forward, Kind::Backward})
      for (int32_t i = share.first; i < sizes.microBatches; i += share.step)
        actions.push_back({kind, share.stage, i});
  }
  return Status::success();
}

Status schedule::makeBreadthFirst(const Sizes &sizes, Table &table) {
  for (int32_t rank = 0; rank < sizes.ranks; ++rank) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    for (int32_t stage = rank; stage < sizes.stages; stage += sizes.ranks)
      for (int32_t i = 0; i < sizes.microBatches; ++i)
        actions.push_back({Kind::Forward, stage, i});
    // The last to come is the first to go back.
    for (size_t i = actions.size(); i-- > 0;)
      actions.push_back(
          {Kind::Backward, actions[i].stage, actions[i].microBatch});
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// One forward, one backward
//===----------------------------------------------------------------------===//

Status Rounds::of(const Sizes &sizes, Rounds &rounds) {
  auto countOf = [&](int32_t microBatches) {
    return std::max(1, microBatches / sizes.ranks);
  };
  auto isEven = [&](int32_t microBatches) {
    return microBatches % countOf(microBatches) == 0;
  };
  const int32_t given = sizes.microBatches;
  rounds = {sizes.ranks, sizes.chunks, given / countOf(given)};
  if (isEven(given) || sizes.chunks == 1)
    return Status::success();
  int32_t below = given, above = given; // Multiples of the ranks are even.
  while (!isEven(below))
    --below;
  while (!isEven(above))
    ++above;
  return Status::error(MLC_USAGE,
                       "stages that take turns on a rank run micro-batches in "
                       "even rounds, and " +
                           std::to_string(given) + " micro-batches on " +
                           std::to_string(sizes.ranks) +
                           " ranks give none; give " + std::to_string(below) +
                           " or " + std::to_string(above) + " micro-batches");
}

/// Forwards until the first backward can come, then one of each, then the
/// backwards that are left. A rank waits for two hops, there and back, for each
/// rank behind it.
static void addTurns(const Rounds &rounds, const Sizes &sizes, Table &table) {
  const int64_t count = int64_t(sizes.microBatches) * rounds.chunks;
  for (int32_t rank = 0; rank < sizes.ranks; ++rank) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    const int64_t ahead =
        std::min(count, int64_t(rounds.chunks - 1) * rounds.size +
                            int64_t(2) * (sizes.ranks - 1 - rank));
    for (int64_t i = 0; i < count + ahead; ++i) {
      if (i < count)
        actions.push_back({Kind::Forward, rounds.forwardStage(i, rank),
                           rounds.microBatch(i)});
      if (const int64_t back = i - ahead; back >= 0)
        actions.push_back({Kind::Backward, rounds.backwardStage(back, rank),
                           rounds.microBatch(back)});
    }
  }
}

Status schedule::makeOneForwardOneBackward(const Sizes &sizes, Table &table) {
  // With one stage a rank, a backward frees what one forward took, so one
  // forward for each rank behind is enough. Ranks that share a stage share
  // these too: PipeDream's NOAM, the ranks from here on over those of the
  // stage, rounded up, is what each has in flight.
  for (const StageShare &share : sharesOf(sizes)) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    const int32_t count = share.count(sizes.microBatches);
    const int32_t ahead =
        std::min(count, (share.ranksFromHere - 1) / share.step);
    auto add = [&](Kind kind, int32_t index) {
      actions.push_back({kind, share.stage, share.first + index * share.step});
    };
    for (int32_t i = 0; i < count + ahead; ++i) {
      if (i < count)
        add(Kind::Forward, i);
      if (i >= ahead)
        add(Kind::Backward, i - ahead);
    }
  }
  return Status::success();
}

Status schedule::makeInterleaved(const Sizes &sizes, Table &table) {
  Rounds rounds{};
  if (Status status = Rounds::of(sizes, rounds); !status.ok())
    return status;
  addTurns(rounds, sizes, table);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Slices, and two directions
//===----------------------------------------------------------------------===//

Status schedule::makeTerapipe(const Sizes &sizes, Table &table) {
  auto slice = [&](int32_t number) {
    return sizes.slices == 1 ? kNone : number;
  };
  for (int32_t stage = 0; stage < sizes.stages; ++stage) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    for (int32_t i = 0; i < sizes.microBatches; ++i)
      for (int32_t k = 0; k < sizes.slices; ++k)
        actions.push_back({Kind::Forward, stage, i, slice(k)});
    // Later slices read keys and values of earlier ones, whose gradients are
    // complete when those of the later ones are there.
    for (int32_t i = 0; i < sizes.microBatches; ++i)
      for (int32_t k = sizes.slices; k-- > 0;)
        actions.push_back({Kind::Backward, stage, i, slice(k)});
  }
  return Status::success();
}

Status schedule::makeChimera(const Sizes &sizes, Table &table) {
  const int32_t depth = sizes.stages;
  if (depth % 2)
    return Status::error(
        MLC_USAGE,
        "chimera's two pipelines fill each other's gaps if "
        "the number of stages is even; give " +
            (depth > 1 ? std::to_string(depth - 1) + " or " : std::string()) +
            std::to_string(depth + 1) + " stages, not " +
            std::to_string(depth));
  // A unit is `depth` micro-batches, half of them downwards: rank r has stage
  // r of that pipeline, and stage depth-1-r of the one upwards. In slots of one
  // action, with F = B, each pipeline is 1F1B that takes every second slot. The
  // depth is even, so they take the same slots of a rank at different times,
  // and units that begin 2*depth slots apart do too.
  struct Slot {
    int64_t time;
    Action action;
  };
  for (int32_t rank = 0; rank < depth; ++rank) {
    std::vector<Slot> slots;
    for (int32_t i = 0; i < sizes.microBatches; ++i) {
      const int32_t unit = i / depth, inUnit = i % depth,
                    size = std::min(depth, sizes.microBatches - unit * depth),
                    down = (size + 1) / 2;
      const bool isDown = inUnit < down;
      const int32_t stage = isDown ? rank : depth - 1 - rank;
      const int64_t begin =
          2 * int64_t(depth) * unit + 2 * (isDown ? inUnit : inUnit - down);
      slots.push_back({begin + stage, {Kind::Forward, stage, i}});
      slots.push_back(
          {begin + 2 * depth - 1 - stage, {Kind::Backward, stage, i}});
    }
    std::sort(slots.begin(), slots.end(),
              [](const Slot &a, const Slot &b) { return a.time < b.time; });
    std::vector<Action> &actions = table.ranks.emplace_back();
    for (const Slot &slot : slots)
      actions.push_back(slot.action);
  }
  return Status::success();
}
