//===- ZeroBubble.cpp - Schedules whose backward pass has two parts -------===//
//
// Only the gradients of inputs are waited for by other ranks. Those of weights
// fill the gaps (Qi et al., Zero Bubble Pipeline Parallelism, 2023).
//
//===----------------------------------------------------------------------===//

#include "runtime/schedule/Families.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

using Kind = ActionKind;

/// ZB-H1, and the same with stages that take turns on a rank.
Status schedule::makeZeroBubble(const Sizes &sizes, Table &table) {
  Rounds rounds{};
  if (Status status = Rounds::of(sizes, rounds); !status.ok())
    return status;
  const int64_t count = int64_t(sizes.microBatches) * rounds.chunks;
  for (int32_t rank = 0; rank < sizes.ranks; ++rank) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    // An input gradient is as long as a forward, so a rank needs one forward
    // for each rank behind it. Later ranks put off weight gradients until all
    // ranks keep as many micro-batches as the first.
    const int64_t ahead =
        std::min(count, int64_t(rounds.chunks - 1) * rounds.size +
                            (sizes.ranks - 1 - rank));
    const int64_t delay = std::min<int64_t>(rank, count);
    for (int64_t i = 0; i < count + ahead + delay; ++i) {
      if (i < count)
        actions.push_back({Kind::Forward, rounds.forwardStage(i, rank),
                           rounds.microBatch(i)});
      const int64_t back = i - ahead, late = back - delay;
      if (back >= 0 && back < count)
        actions.push_back({Kind::InputGradient,
                           rounds.backwardStage(back, rank),
                           rounds.microBatch(back)});
      if (late >= 0 && late < count)
        actions.push_back({Kind::WeightGradient,
                           rounds.backwardStage(late, rank),
                           rounds.microBatch(late)});
    }
  }
  return Status::success();
}

namespace {

/// Adds actions of a rank of ZB-V. Each stage's F, I and W count micro-batches
/// by themselves; those beyond the last are left out.
class RankOfV {
public:
  RankOfV(int32_t down, int32_t up, int32_t microBatches,
          std::vector<Action> &actions)
      : stages{down, up}, microBatches(microBatches), actions(actions) {}

  enum Chunk { Down, Up };

  void add(Kind kind, Chunk chunk) {
    int32_t &next = counts[chunk][index(kind)];
    if (next < microBatches)
      actions.push_back({kind, stages[chunk], next});
    ++next;
  }
  void addBackward(Chunk chunk) {
    add(Kind::InputGradient, chunk);
    add(Kind::WeightGradient, chunk);
  }
  int32_t count(Kind kind, Chunk chunk) const {
    return counts[chunk][index(kind)];
  }

private:
  static size_t index(Kind kind) {
    return kind == Kind::Forward ? 0 : kind == Kind::InputGradient ? 1 : 2;
  }

  int32_t stages[2], microBatches;
  int32_t counts[2][3] = {};
  std::vector<Action> &actions;
};

} // namespace

/// ZB-V: micro-batches go down the ranks and up again. The phases are those of
/// the paper's figure; with F = I = W no rank waits but at both ends.
Status schedule::makeZeroBubbleV(const Sizes &sizes, Table &table) {
  const int32_t ranks = sizes.ranks;
  // A table for fewer micro-batches than fill the V leaves some of these out.
  const int32_t forwards = std::max(2 * ranks - 1, sizes.microBatches);
  if (int64_t(6) * ranks * forwards > kMaxActions)
    return Status::error(MLC_USAGE, "the V of " + std::to_string(ranks) +
                                        " ranks is too large; give fewer");
  for (int32_t rank = 0; rank < ranks; ++rank) {
    RankOfV all(rank, 2 * ranks - 1 - rank, sizes.microBatches,
                table.ranks.emplace_back());
    const int32_t behind = ranks - rank;
    for (int32_t i = 0; i < 2 * behind - 1; ++i)
      all.add(Kind::Forward, all.Down);
    for (int32_t i = 0; i < rank; ++i) {
      all.add(Kind::Forward, all.Up);
      all.add(Kind::Forward, all.Down);
    }
    for (int32_t i = 0; i < behind; ++i) {
      all.add(Kind::Forward, all.Up);
      all.addBackward(all.Up);
    }
    while (all.count(Kind::Forward, all.Up) < forwards) {
      if (all.count(Kind::Forward, all.Down) < forwards)
        all.add(Kind::Forward, all.Down);
      all.addBackward(all.Down);
      all.add(Kind::Forward, all.Up);
      all.addBackward(all.Up);
    }
    for (int32_t i = 0; i < rank; ++i) {
      all.add(Kind::InputGradient, all.Down);
      all.add(Kind::InputGradient, all.Up);
    }
    for (int32_t i = 0; i < behind; ++i)
      all.addBackward(all.Down);
    for (RankOfV::Chunk chunk : {all.Up, all.Down})
      while (all.count(Kind::WeightGradient, chunk) < forwards)
        all.add(Kind::WeightGradient, chunk);
  }
  return Status::success();
}
