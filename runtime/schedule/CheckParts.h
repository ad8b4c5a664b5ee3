//===- CheckParts.h - The parts of a check share what they found -*- C++ -*-==//

#ifndef MLC_RUNTIME_SCHEDULE_CHECKPARTS_H
#define MLC_RUNTIME_SCHEDULE_CHECKPARTS_H

#include "runtime/schedule/Check.h"

#include <algorithm>

namespace mlc::runtime::schedule {

/// Where an action stands.
struct ActionPlace {
  int32_t rank = kNone;
  int32_t index = kNone;

  bool exists() const { return rank != kNone; }
};

/// The numbers of a cell: a stage's work on a slice of a micro-batch.
struct WorkItem {
  int32_t stage, microBatch, slice;
};

/// A check under way. The functions return false when they have refused.
class TableCheck {
public:
  TableCheck(const Table &table, const CheckOptions &options)
      : table(table), options(options) {}

  bool run();
  Status takeStatus() { return std::move(status); }
  Fault fault;

private:
  // CheckOrder.cpp: what there is, and computation.
  bool findSizes();
  bool checkNumbers();
  bool countForwards();
  bool findStages();
  bool placeActions();
  bool checkItem(size_t item);
  bool checkNeeds(const ActionPlace &place);
  bool checkNeed(const ActionPlace &place, const ActionPlace &needed);
  bool checkSlots();
  bool checkShards();

  // CheckUpdates.cpp: gradients and versions, of a stage on a rank.
  struct StageUpdates;
  bool checkUpdates();
  bool takeAction(StageUpdates &stage, const ActionPlace &place);
  bool takeForward(StageUpdates &stage, const ActionPlace &place);
  bool takeGradient(StageUpdates &stage, const ActionPlace &place);
  bool takeSum(StageUpdates &stage, const ActionPlace &place);
  bool checkSummed(const StageUpdates &stage, const ActionPlace &place);
  bool takeNorm(StageUpdates &stage, const ActionPlace &place);
  bool takeStep(StageUpdates &stage, const ActionPlace &place);
  bool checkVersion(StageUpdates &stage, const ActionPlace &place);
  bool checkKept(StageUpdates &stage, const ActionPlace &place);
  int64_t updateWeight(size_t stage) const;
  void findInFlight();
  bool checkOrderOfSums(StageUpdates &stage, const ActionPlace &place);
  bool finishUpdates(StageUpdates &stage, int32_t rank, int32_t number);

  // CheckTransfers.cpp.
  bool findReads();
  void numberEdges();
  bool placeTransfer(const ActionPlace &place);
  std::string whyNoMessage(const Action &transfer) const;
  bool checkTransfers();
  bool checkMessage(bool isForward, int32_t from, int32_t to, size_t message);
  bool checkSide(const ActionPlace &place, size_t item);
  bool checkChannels();
  bool checkWaits();
  bool checkCollectives();

  // CheckDeadlock.cpp.
  friend class TableRun;
  bool checkDeadlock();

protected:
  const Action &at(const ActionPlace &place) const {
    return table.ranks[size_t(place.rank)][size_t(place.index)];
  }
  size_t itemOf(int32_t stage, int32_t microBatch, int32_t slice) const {
    return (size_t(stage) * size_t(microBatches) + size_t(microBatch)) *
               size_t(slices) +
           size_t(slice);
  }
  size_t itemOf(const Action &action) const {
    return itemOf(action.stage, action.microBatch, std::max(action.slice, 0));
  }
  /// The same micro-batch and slice in another stage.
  size_t inStage(size_t item, int32_t stage) const {
    size_t perStage = size_t(microBatches) * size_t(slices);
    return item % perStage + size_t(stage) * perStage;
  }
  int32_t stageOf(size_t item) const {
    return int32_t(item / (size_t(microBatches) * size_t(slices)));
  }
  WorkItem numbersOf(size_t item) const;
  /// "2F0" for the action of a kind that belongs to an item.
  std::string nameOf(ActionKind kind, size_t item) const;
  const ActionPlace &placeOf(ActionKind kind, size_t item) const {
    return places[size_t(kind)][item];
  }
  /// B or I: what gives the gradient that other stages need.
  const ActionPlace &gradientOf(size_t item) const {
    const ActionPlace &whole = placeOf(ActionKind::Backward, item);
    return whole.exists() ? whole : placeOf(ActionKind::InputGradient, item);
  }
  /// B or W.
  const ActionPlace &lastOf(size_t item) const {
    const ActionPlace &whole = placeOf(ActionKind::Backward, item);
    return whole.exists() ? whole : placeOf(ActionKind::WeightGradient, item);
  }
  int32_t rankOf(size_t item) const {
    return placeOf(ActionKind::Forward, item).rank;
  }
  /// What `action` needs done before it, of its own or other stages.
  template <typename Visit>
  bool forNeeds(const Action &action, Visit visit) const;

  bool refuse(const ActionPlace &place, const std::string &what);
  /// An action that should be on `rank` and is not.
  bool refuseMissing(int32_t rank, const std::string &action,
                     const std::string &what);
  /// The number of what a transfer sends or receives; numberless() if no stage
  /// reads it.
  size_t messageOf(const Action &transfer) const;
  size_t messageOf(bool isForward, size_t edge, size_t item) const {
    size_t perStage = size_t(microBatches) * size_t(slices);
    return (isForward ? edge : edges + edge) * perStage + item % perStage;
  }
  static constexpr size_t numberless() { return ~size_t(0); }
  /// "rank 1, cell 7, 3SEND_B0".
  std::string describe(const ActionPlace &place) const;

  const Table &table;
  const CheckOptions &options;
  Status status;
  int32_t stages = 0, microBatches = 0, slices = 1;
  bool isSliced = false, hasBackward = false, hasTransfers = false,
       hasSteps = false;
  /// By stage: what it reads, who reads it, and the ranks that have it.
  std::vector<std::vector<int32_t>> reads, readers, ranksOf;
  /// The same of readings whose gradient goes back.
  std::vector<std::vector<int32_t>> gradientsTo, gradientsFrom;
  /// By kind, then item.
  std::vector<std::vector<ActionPlace>> places;
  /// By item: the version that its forward pass read. By stage: the most that
  /// a rank has in flight. `updates`: the most of any stage, by updateWeight().
  std::vector<int32_t> versions, inFlight;
  int64_t updates = 0;
  int32_t perUpdate = 1;
  /// Edges from stages to their readers are numbered by reader, then as in
  /// `reads`.
  std::vector<size_t> firstEdge;
  size_t edges = 0;
  /// By message: where it is sent and received.
  std::vector<ActionPlace> sent, received;
};

template <typename Visit>
bool TableCheck::forNeeds(const Action &action, Visit visit) const {
  size_t item = itemOf(action);
  int32_t slice = std::max(action.slice, 0);
  switch (action.kind) {
  case ActionKind::Forward:
    for (int32_t stage : reads[size_t(action.stage)])
      if (!visit(placeOf(ActionKind::Forward, inStage(item, stage))))
        return false;
    // Later tokens read keys and values of earlier ones.
    return slice == 0 || visit(placeOf(ActionKind::Forward, item - 1));
  case ActionKind::InputGradient:
  case ActionKind::Backward:
    if (!visit(placeOf(ActionKind::Forward, item)))
      return false;
    for (int32_t stage : gradientsFrom[size_t(action.stage)])
      if (!visit(gradientOf(inStage(item, stage))))
        return false;
    // The backward pass begins with the last slice.
    return slice + 1 == slices || visit(gradientOf(item + 1));
  case ActionKind::WeightGradient:
    return visit(placeOf(ActionKind::InputGradient, item));
  default:
    return true;
  }
}

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_CHECKPARTS_H
