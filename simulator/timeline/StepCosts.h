//===- StepCosts.h - What the stages of a step take -------------*- C++ -*-===//
//
// A step in stages, as numbers: what each stage computes, and what stages carry
// to each other. With a table, which says which rank runs which stage, and the
// links of a cluster they give the step a time.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_TIMELINE_STEPCOSTS_H
#define MLC_SIMULATOR_TIMELINE_STEPCOSTS_H

#include "runtime/schedule/Moves.h"
#include "simulator/cluster/Network.h"
#include "simulator/timeline/Timeline.h"

#include <span>

namespace mlc::simulator {

struct StepCosts {
  /// What entries of a stage carry to entries of others, or of the same one.
  struct Value {
    int64_t stage = 0, bytes = 0;
    /// Entries of updates carry it, once in a step.
    bool isOfUpdate = false;
    std::vector<int64_t> readers = {}; ///< stages
  };
  /// Where B is one entry, its time stands as that of I.
  std::vector<StageTimes> times;
  std::vector<Value> values;
  /// The bytes of each stage's sums of gradients.
  std::vector<int64_t> sums;

  int64_t countStages() const { return static_cast<int64_t>(times.size()); }
  /// What all stages compute for a micro-batch.
  Time computing() const;
  /// The costs of fewer stages, each of several in a row: the stages below
  /// ends[0], those from there below ends[1], ... A value goes once to a stage
  /// that reads it several times.
  StepCosts join(std::span<const size_t> ends) const;
};

/// The stages of a step on the ranks of a table.
class StepOnRanks {
public:
  /// Both outlive this. The table has F, B, I and W of all its stages.
  StepOnRanks(const StepCosts &costs, const runtime::schedule::Table &table);

  /// Which stages read which.
  std::vector<runtime::schedule::Reading> reads() const;
  /// The bytes of a send.
  int64_t bytes(const runtime::schedule::Action &send) const;
  /// The ranks that have a stage.
  const std::vector<int> &ranksOf(int64_t stage) const {
    return stageRanks[size_t(stage)];
  }
  /// The bytes that each rank sends in a step to others: messages of
  /// micro-batches, sums of gradients over the ranks of a stage, and what
  /// updates tell each other.
  std::vector<int64_t> sentBytes() const;

private:
  std::vector<runtime::schedule::Move>
  movesOf(const StepCosts::Value &value, const std::vector<int> &ranks) const;

  const StepCosts &costs;
  std::vector<std::vector<int>> stageRanks;
  /// How often the table says that the ranks of a stage add their gradients.
  std::vector<int64_t> sumCounts;
  /// For each micro-batch the rank of each stage.
  std::vector<std::vector<int>> rankOf;
};

/// Where the ranks of a table are in a cluster.
struct StepPlaces {
  /// The cluster's rank of each rank of the table.
  std::vector<int64_t> ranks;
  /// Ranks so far behind each of these do the same at the same time, on other
  /// parts, and share links with them. The first is 0.
  std::vector<int64_t> offsets = {0};
};

/// Adds the transfers and updates to a table of computations, and gives all
/// actions times: messages and REDUCE_GRAD those of the links between the
/// ranks, while those at all offsets send alike. Where all levels are
/// throttled, messages travel without their receive. Errors are those of
/// addTransfers() and makeTimeline().
runtime::Status makeStepTimeline(const StepCosts &costs, const Network &network,
                                 const StepPlaces &places,
                                 runtime::schedule::Table &table,
                                 Timeline &timeline);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_TIMELINE_STEPCOSTS_H
