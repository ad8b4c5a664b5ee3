//===- Transfers.cpp - Sends and receives of a table of computations ------===//

#include "runtime/schedule/Transfers.h"
#include "runtime/schedule/StageRanks.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

using Kind = ActionKind;

std::vector<Reading> schedule::readPrevious(int32_t stages) {
  std::vector<Reading> reads;
  for (int32_t stage = 1; stage < stages; ++stage)
    reads.push_back({stage - 1, stage});
  return reads;
}

static Status wrong(const std::string &what) { return Status::badFile(what); }

static std::string at(size_t rank, const Action &action) {
  return "rank " + std::to_string(rank) + ", " + toString(action);
}

namespace {

/// What is known of a stage's passes for a slice of a micro-batch.
struct Pass {
  int32_t rank = kNone;     // that runs F
  bool hasBackward = false; // a rank runs B or I
  bool hasForwardDone = false, hasBackwardDone = false;
};

/// The passes of all stages, micro-batches and slices.
class Passes {
public:
  Status find(const Table &table) {
    microBatches = table.countMicroBatches();
    slices = 1; // 0 stands for all of a micro-batch
    for (const std::vector<Action> &actions : table.ranks)
      for (const Action &action : actions)
        slices = std::max(slices, action.slice + 2);
    const int64_t stages = table.countStages(), most = kMaxActions;
    if (stages * microBatches > most || stages * microBatches * slices > most)
      return wrong("there are more micro-batches and slices than a table has; "
                   "number them from 0, without gaps");
    passes.resize(size_t(stages * microBatches * slices));
    for (Kind kind : {Kind::Forward, Kind::Backward})
      for (size_t rank = 0; rank < table.ranks.size(); ++rank)
        for (const Action &action : table.ranks[rank])
          if (Status status = kind == Kind::Forward ? addForward(rank, action)
                                                    : addBackward(rank, action);
              !status.ok())
            return status;
    return Status::success();
  }

  /// That of the action, for another stage.
  Pass &of(const Action &action, int32_t stage) {
    return passes[size_t((int64_t(stage) * microBatches + action.microBatch) *
                             slices +
                         action.slice + 1)];
  }
  Pass &of(const Action &action) { return of(action, action.stage); }

private:
  Status addForward(size_t rank, const Action &action) {
    if (action.kind != Kind::Forward)
      return Status::success();
    Pass &pass = of(action);
    if (pass.rank != kNone)
      return wrong(at(rank, action) + " is run by rank " +
                   std::to_string(pass.rank) + " too; run it once");
    pass.rank = int32_t(rank);
    return Status::success();
  }

  Status addBackward(size_t rank, const Action &action) {
    if (!isPass(action.kind) || action.kind == Kind::Forward)
      return Status::success();
    Pass &pass = of(action);
    if (pass.rank != int32_t(rank))
      return wrong(at(rank, action) + ": the rank does not run F of it; run " +
                   "both on one");
    if (action.kind != Kind::WeightGradient && pass.hasBackward)
      return wrong(at(rank, action) + " is run twice; run it once");
    pass.hasBackward |= action.kind != Kind::WeightGradient;
    return Status::success();
  }

  int32_t microBatches = 0, slices = 1;
  std::vector<Pass> passes;
};

/// Runs a table by a clock, and writes down what happens on each rank.
class Clock {
public:
  Clock(Table &table, const std::vector<Reading> &reads)
      : table(table), stages(table.countStages()), ranks(findRanks(table)),
        readsOf(size_t(stages)), readersOf(size_t(stages)),
        states(size_t(stages)), lanes(table.ranks.size()), reads(reads) {}

  Status run() {
    for (Status (Clock::*step)() :
         {&Clock::checkTable, &Clock::checkReads, &Clock::findSums})
      if (Status status = (this->*step)(); !status.ok())
        return status;
    if (Status status = passes.find(table); !status.ok())
      return status;
    for (size_t rank = 0; rank < lanes.size(); ++rank)
      awake.insert(int32_t(rank));
    for (;;) {
      while (!awake.empty()) {
        const int32_t rank = *awake.begin();
        awake.erase(awake.begin());
        advance(size_t(rank));
      }
      if (running.empty())
        break;
      now = running.top().first;
      std::set<int32_t> ended;
      for (; !running.empty() && running.top().first == now; running.pop())
        ended.insert(running.top().second);
      finishAll(std::move(ended));
    }
    return takeResult();
  }

private:
  struct Lane {
    size_t next = 0, end = 0; // what runs: [next, end)
    bool isBusy = false;
    std::vector<Action> result;
    size_t received = 0; // where a receive goes into `result`, if busy
  };
  struct StageState {
    /// Gradients that are not there yet, if the ranks' sums are added here.
    int64_t gradientsLeft = 0;
    bool isSummedHere = false, isSummed = false;
  };

  Status checkTable() {
    for (size_t rank = 0; rank < table.ranks.size(); ++rank)
      for (const Action &action : table.ranks[rank])
        if (isSend(action.kind) || isReceive(action.kind))
          return wrong(at(rank, action) + ": the table has transfers already; "
                                          "give one of computations");
    return Status::success();
  }

  Status checkReads() {
    std::vector<Reading> sorted = reads;
    auto key = [](const Reading &one) { return std::pair(one.from, one.to); };
    std::sort(
        sorted.begin(), sorted.end(),
        [&](const Reading &a, const Reading &b) { return key(a) < key(b); });
    for (size_t i = 0; i < sorted.size(); ++i) {
      const Reading &one = sorted[i];
      const std::string what = "stage " + std::to_string(one.to) +
                               " reads stage " + std::to_string(one.from);
      if (std::min(one.from, one.to) < 0 ||
          std::max(one.from, one.to) >= stages)
        return wrong(what + ", but the table has " + std::to_string(stages) +
                     " stages");
      if (one.from == one.to)
        return wrong(what + "; leave that out");
      if (i && key(one) == key(sorted[i - 1]))
        return wrong(what + " twice; say it once");
      readsOf[size_t(one.to)].push_back(one);
      readersOf[size_t(one.from)].push_back(one);
    }
    return Status::success();
  }

  /// Finds the stages whose gradients are added here.
  Status findSums() {
    std::vector<bool> isWritten(size_t(stages), false);
    for (const std::vector<Action> &actions : table.ranks)
      for (const Action &action : actions)
        if (action.kind == Kind::ReduceGradients)
          isWritten[size_t(action.stage)] = true;
    for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
      std::set<int32_t> updated;
      for (const Action &action : table.ranks[rank]) {
        const auto stage = size_t(action.stage);
        if (ranks[stage].size() < 2 || isWritten[stage])
          continue;
        states[stage].gradientsLeft += makesGradient(action.kind);
        states[stage].isSummedHere = states[stage].gradientsLeft > 0;
        if (action.kind == Kind::Step && !updated.insert(action.stage).second)
          return wrong(at(rank, action) +
                       ": several ranks have the stage and update it more "
                       "than once; write REDUCE_GRAD before each STEP");
      }
    }
    return Status::success();
  }

  /// Whether all that the action reads is there.
  bool isReady(const Action &action) {
    if (action.kind == Kind::Norm || action.kind == Kind::Step)
      return !states[size_t(action.stage)].isSummedHere ||
             states[size_t(action.stage)].isSummed;
    Action missing;
    return !isPass(action.kind) || !findMissing(action, missing);
  }

  /// Finds an action that has to be done before a pass.
  bool findMissing(const Action &action, Action &missing) {
    missing = action;
    if (action.kind == Kind::Forward) {
      for (const Reading &one : readsOf[size_t(action.stage)]) {
        missing.stage = one.from;
        if (!passes.of(missing).hasForwardDone)
          return true;
      }
      return false;
    }
    if (action.kind == Kind::WeightGradient) {
      missing.kind = Kind::InputGradient;
      return !passes.of(action).hasBackwardDone;
    }
    missing.kind = Kind::Forward;
    if (!passes.of(action).hasForwardDone)
      return true;
    missing.kind = action.kind;
    for (const Reading &one : readersOf[size_t(action.stage)]) {
      missing.stage = one.to;
      if (one.hasGradient && !passes.of(missing).hasBackwardDone)
        return true;
    }
    return false;
  }

  /// The end of the actions that run together with the next one of the rank.
  size_t endOfGroup(size_t rank) const {
    const std::vector<Action> &actions = table.ranks[rank];
    size_t end = lanes[rank].next + 1;
    while (end < actions.size() && actions[end].overlap != kNone &&
           actions[end].overlap == actions[end - 1].overlap)
      ++end;
    return end;
  }

  /// Starts what the rank can do now.
  void advance(size_t rank) {
    Lane &lane = lanes[rank];
    const std::vector<Action> &actions = table.ranks[rank];
    while (!lane.isBusy && lane.next < actions.size()) {
      const Action &action = actions[lane.next];
      if (isTogether(action)) {
        if (!meet(action))
          return;
        continue;
      }
      lane.end = endOfGroup(rank);
      int64_t time = 0;
      for (size_t i = lane.next; i < lane.end; ++i) {
        if (!isReady(actions[i]))
          return;
        time = std::max<int64_t>(time, actions[i].kind == Kind::Backward ? 2
                                       : isPass(actions[i].kind)         ? 1
                                                                         : 0);
      }
      lane.received = lane.result.size();
      lane.result.insert(lane.result.end(), actions.begin() + lane.next,
                         actions.begin() + lane.end);
      if (!time) {
        lane.next = lane.end;
        continue;
      }
      lane.isBusy = true;
      running.push({now + time, int32_t(rank)});
    }
  }

  /// Whether all ranks with the stage carry the action out at once.
  bool isTogether(const Action &action) const {
    return (action.kind == Kind::Unshard ||
            action.kind == Kind::ReduceGradients) &&
           ranks[size_t(action.stage)].size() > 1;
  }

  /// Carries out a collective if all its ranks have come to it.
  bool meet(const Action &action) {
    const std::vector<int32_t> &all = ranks[size_t(action.stage)];
    for (int32_t rank : all) {
      const Lane &lane = lanes[size_t(rank)];
      const std::vector<Action> &actions = table.ranks[size_t(rank)];
      if (lane.isBusy || lane.next == actions.size() ||
          actions[lane.next] != action)
        return false;
    }
    for (int32_t rank : all) {
      Lane &lane = lanes[size_t(rank)];
      lane.result.push_back(table.ranks[size_t(rank)][lane.next++]);
      awake.insert(rank);
    }
    return true;
  }

  /// Ends what these ranks run. Senders come before the ranks that they send to
  /// where they can, since a receive goes before what has not ended; the lowest
  /// is first among ranks that send to each other.
  void finishAll(std::set<int32_t> ended) {
    std::map<int32_t, std::vector<int32_t>> receivers;
    std::map<int32_t, int64_t> senders;
    for (int32_t rank : ended)
      for (size_t i = lanes[size_t(rank)].next; i < lanes[size_t(rank)].end;
           ++i)
        forReceivers(table.ranks[size_t(rank)][i],
                     [&](int32_t, int32_t receiver) {
                       if (receiver == rank || !ended.count(receiver))
                         return;
                       receivers[rank].push_back(receiver);
                       ++senders[receiver];
                     });
    std::set<int32_t> first;
    for (int32_t rank : ended)
      if (!senders.count(rank))
        first.insert(rank);
    while (!ended.empty()) {
      const int32_t rank = *(first.empty() ? ended : first).begin();
      first.erase(rank);
      ended.erase(rank);
      finish(size_t(rank));
      for (int32_t receiver : receivers[rank])
        if (--senders[receiver] == 0 && ended.count(receiver))
          first.insert(receiver);
    }
  }

  /// Ends what the rank runs, and sends what others read.
  void finish(size_t rank) {
    Lane &lane = lanes[rank];
    const size_t begin = lane.next;
    lane.isBusy = false;
    lane.next = lane.end;
    awake.insert(int32_t(rank));
    for (size_t i = begin; i < lane.end; ++i)
      send(rank, table.ranks[rank][i]);
    for (size_t i = begin; i < lane.end; ++i)
      if (makesGradient(table.ranks[rank][i].kind))
        sum(table.ranks[rank][i].stage);
  }

  /// Calls f(stage, rank) for each stage that reads what the action makes, with
  /// the rank that runs it for this micro-batch.
  template <typename Function>
  void forReceivers(const Action &action, Function f) {
    const bool isForward = action.kind == Kind::Forward;
    if (!isForward &&
        (!isPass(action.kind) || action.kind == Kind::WeightGradient))
      return;
    const auto stage = size_t(action.stage);
    for (const Reading &one : isForward ? readersOf[stage] : readsOf[stage]) {
      const int32_t to = isForward ? one.to : one.from;
      const int32_t receiver = passes.of(action, to).rank;
      // Perhaps nobody runs the reader for this micro-batch.
      if ((isForward || one.hasGradient) && receiver != kNone)
        f(to, receiver);
    }
  }

  void send(size_t rank, const Action &action) {
    Pass &pass = passes.of(action);
    pass.hasForwardDone |= action.kind == Kind::Forward;
    pass.hasBackwardDone |= isPass(action.kind) &&
                            action.kind != Kind::Forward &&
                            action.kind != Kind::WeightGradient;
    forReceivers(action, [&](int32_t to, int32_t receiver) {
      awake.insert(receiver);
      if (receiver != int32_t(rank))
        transfer(rank, action, to, receiver);
    });
  }

  void transfer(size_t rank, const Action &action, int32_t to,
                int32_t receiver) {
    const bool isForward = action.kind == Kind::Forward;
    Action sent{isForward ? Kind::SendForward : Kind::SendBackward,
                action.stage, action.microBatch, action.slice},
        received{isForward ? Kind::ReceiveForward : Kind::ReceiveBackward, to,
                 action.microBatch, action.slice};
    if (peerOf(sent) != to)
      sent.peer = to;
    if (peerOf(received) != action.stage)
      received.peer = action.stage;
    lanes[rank].result.push_back(sent);
    // The message travels while the receiver computes.
    Lane &other = lanes[size_t(receiver)];
    const size_t place = other.isBusy ? other.received++ : other.result.size();
    other.result.insert(other.result.begin() + long(place), received);
  }

  /// Adds the gradients of the ranks after the last one.
  void sum(int32_t stage) {
    StageState &state = states[size_t(stage)];
    if (!state.isSummedHere || --state.gradientsLeft)
      return;
    state.isSummed = true;
    for (int32_t rank : ranks[size_t(stage)]) {
      lanes[size_t(rank)].result.push_back({Kind::ReduceGradients, stage});
      awake.insert(rank);
    }
  }

  Status takeResult() {
    for (size_t rank = 0; rank < lanes.size(); ++rank)
      if (lanes[rank].next < table.ranks[rank].size())
        return nameStuck(rank);
    int64_t count = 0;
    for (const Lane &lane : lanes)
      count += int64_t(lane.result.size());
    if (count > kMaxActions)
      return wrong("with transfers there are more than " +
                   std::to_string(kMaxActions) + " actions");
    for (size_t rank = 0; rank < lanes.size(); ++rank)
      table.ranks[rank] = std::move(lanes[rank].result);
    return Status::success();
  }

  /// Follows what ranks wait for to what nobody runs, or around a circle.
  Status nameStuck(size_t rank) {
    std::string text;
    std::vector<bool> isSeen(lanes.size(), false);
    for (;;) {
      Action action = table.ranks[rank][lanes[rank].next], missing;
      for (size_t i = lanes[rank].next; i < endOfGroup(rank); ++i)
        if (!isReady(table.ranks[rank][i]))
          action = table.ranks[rank][i];
      text += at(rank, action);
      if (!isPass(action.kind) || !findMissing(action, missing))
        return wrong(text + " waits for ranks that do not come to it; give "
                            "all ranks with the stage one order");
      text += " waits for " + toString(missing);
      const Pass &pass = passes.of(missing);
      const bool isRun =
          missing.kind == Kind::Forward ? pass.rank != kNone : pass.hasBackward;
      if (!isRun)
        return wrong(text + ", which no rank runs");
      isSeen[rank] = true;
      rank = size_t(pass.rank);
      if (isSeen[rank])
        return wrong(text + ", which comes later on rank " +
                     std::to_string(rank) + "; change their order");
      text += "; ";
    }
  }

  Table &table;
  int32_t stages;
  std::vector<std::vector<int32_t>> ranks;
  std::vector<std::vector<Reading>> readsOf, readersOf;
  std::vector<StageState> states;
  std::vector<Lane> lanes;
  const std::vector<Reading> &reads;
  Passes passes;
  /// Ends of what runs; ranks that may have become able to go on.
  std::priority_queue<std::pair<int64_t, int32_t>,
                      std::vector<std::pair<int64_t, int32_t>>, std::greater<>>
      running;
  std::set<int32_t> awake;
  int64_t now = 0;
};

} // namespace

Status schedule::addTransfers(Table &table, const std::vector<Reading> &reads) {
  return Clock(table, reads).run();
}
