//===- Asynchronous.cpp - Schedules that update weights on the way --------===//

#include "runtime/schedule/Families.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <set>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

using Kind = ActionKind;

//===----------------------------------------------------------------------===//
// PipeDream
//===----------------------------------------------------------------------===//

/// Ends an update of a stage: its ranks add their gradients.
static void addUpdate(const StageShare &share, int32_t version,
                      std::vector<Action> &actions) {
  if (share.step > 1)
    actions.push_back({Kind::ReduceGradients, share.stage});
  actions.push_back({Kind::Step, share.stage, version});
}

/// Narayanan et al., 2019: 1F1B whose stages update after each backward pass. A
/// forward pass reads the newest weights, and the backward pass the same. Ranks
/// that share a stage make an update of one gradient each.
Status schedule::makePipedream(const Sizes &sizes, Table &table) {
  for (int32_t replicas : sizes.replicas)
    if (sizes.microBatches % replicas)
      return Status::error(
          MLC_USAGE, "pipedream's updates of a stage are of a micro-batch of "
                     "each of its ranks, and " +
                         std::to_string(replicas) + " do not divide " +
                         std::to_string(sizes.microBatches) +
                         " micro-batches; give a multiple");
  Table plain;
  if (Status status = makeOneForwardOneBackward(sizes, plain); !status.ok())
    return status;
  const std::vector<StageShare> shares = sharesOf(sizes);
  for (size_t rank = 0; rank < plain.ranks.size(); ++rank) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    std::vector<int32_t> versions(size_t(sizes.microBatches), 0);
    int32_t newest = 0;
    for (Action action : plain.ranks[rank]) {
      int32_t &version = versions[size_t(action.microBatch)];
      if (action.kind == Kind::Forward)
        version = newest;
      action.version = version;
      actions.push_back(action);
      if (action.kind == Kind::Backward)
        addUpdate(shares[rank], ++newest, actions);
    }
  }
  return Status::success();
}

/// Narayanan et al., 2021: gradients of `updateEvery` micro-batches make a
/// version, and those of a batch read the version before the newest that can be
/// there.
Status schedule::makePipedream2bw(const Sizes &sizes, Table &table) {
  const int32_t batch = sizes.updateEvery;
  if (sizes.microBatches % batch)
    return Status::error(MLC_USAGE, "pipedream-2bw updates after " +
                                        std::to_string(batch) +
                                        " micro-batches, which do not divide " +
                                        std::to_string(sizes.microBatches) +
                                        "; give a multiple");
  // The first forward of a batch on the first stage, which may have ranks-1
  // others before their backward, needs the update of the batch before the
  // last. And each rank of a stage has a gradient for it.
  const int32_t shared =
      *std::max_element(sizes.replicas.begin(), sizes.replicas.end());
  const int32_t least = std::max(sizes.ranks - 1, shared);
  if (batch < least)
    return Status::error(
        MLC_USAGE,
        "pipedream-2bw has two versions of the weights if an update is of at "
        "least " +
            std::to_string(least) + " micro-batches on " +
            std::to_string(sizes.ranks) + " ranks, not " +
            std::to_string(batch) + "; give more for an update");
  Table plain;
  if (Status status = makeOneForwardOneBackward(sizes, plain); !status.ok())
    return status;
  const std::vector<StageShare> shares = sharesOf(sizes);
  for (size_t rank = 0; rank < plain.ranks.size(); ++rank) {
    std::vector<Action> &actions = table.ranks.emplace_back();
    for (Action action : plain.ranks[rank]) {
      const int32_t own = action.microBatch / batch;
      action.version = std::max(own - 1, 0);
      actions.push_back(action);
      // The rank's last one of the batch.
      if (action.kind == Kind::Backward &&
          (action.microBatch + shares[rank].step) / batch != own)
        addUpdate(shares[rank], own + 1, actions);
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// AMPNet
//===----------------------------------------------------------------------===//

namespace {

/// Runs stages that take what comes, a backward pass before a forward pass, and
/// records what each did. B takes as long as two F.
class AmpnetRun {
public:
  AmpnetRun(const Sizes &sizes, Table &table)
      : sizes(sizes), table(table), ranks(size_t(sizes.stages)) {
    table.ranks.resize(size_t(sizes.stages));
  }

  void run() {
    admit();
    for (;;) {
      for (int32_t rank : awake)
        start(rank);
      awake.clear();
      if (running.empty())
        return;
      now = running.top().time;
      while (!running.empty() && running.top().time == now) {
        const Event done = running.top();
        running.pop();
        finish(done);
      }
    }
  }

private:
  struct Event {
    int64_t time;
    int32_t rank;
    Kind kind;
    int32_t microBatch;
    bool operator<(const Event &other) const { // The first is on top.
      return time != other.time ? time > other.time : rank > other.rank;
    }
  };
  struct Rank {
    std::deque<int32_t> forwards, backwards;
    bool isBusy = false;
    /// Gradients since the last update, and micro-batches whose are done.
    int32_t gradients = 0, done = 0;
    int32_t version = 0;
  };

  void admit() {
    while (admitted < sizes.microBatches && inFlight < sizes.inFlight) {
      bring(0, Kind::Forward, admitted++);
      ++inFlight;
    }
  }

  void bring(int32_t number, Kind kind, int32_t microBatch) {
    Rank &rank = ranks[size_t(number)];
    (kind == Kind::Forward ? rank.forwards : rank.backwards)
        .push_back(microBatch);
    awake.insert(number);
  }

  void start(int32_t number) {
    Rank &rank = ranks[size_t(number)];
    if (rank.isBusy || (rank.forwards.empty() && rank.backwards.empty()))
      return;
    const bool isBackward = !rank.backwards.empty();
    std::deque<int32_t> &queue = isBackward ? rank.backwards : rank.forwards;
    const Kind kind = isBackward ? Kind::Backward : Kind::Forward;
    const int32_t microBatch = queue.front();
    queue.pop_front();
    rank.isBusy = true;
    table.ranks[size_t(number)].push_back(
        {kind, number, microBatch, kNone, rank.version});
    running.push({now + (isBackward ? 2 : 1), number, kind, microBatch});
  }

  void finish(const Event &done) {
    Rank &rank = ranks[size_t(done.rank)];
    rank.isBusy = false;
    awake.insert(done.rank);
    if (done.kind == Kind::Forward) {
      if (done.rank + 1 < sizes.stages)
        bring(done.rank + 1, Kind::Forward, done.microBatch);
      else
        bring(done.rank, Kind::Backward, done.microBatch);
      return;
    }
    // What is left at the end makes an update too.
    ++rank.gradients;
    ++rank.done;
    if (rank.gradients == sizes.updateEvery || rank.done == sizes.microBatches)
      update(done.rank);
    if (done.rank > 0) {
      bring(done.rank - 1, Kind::Backward, done.microBatch);
      return;
    }
    --inFlight;
    admit();
  }

  void update(int32_t number) {
    Rank &rank = ranks[size_t(number)];
    rank.gradients = 0;
    table.ranks[size_t(number)].push_back({Kind::Step, number, ++rank.version});
  }

  const Sizes &sizes;
  Table &table;
  std::vector<Rank> ranks;
  std::priority_queue<Event> running;
  std::set<int32_t> awake; // Ranks that may have something to start.
  int64_t now = 0;
  int32_t admitted = 0, inFlight = 0;
};

} // namespace

/// Gaunt et al., 2017. Forward and backward pass read the weights that the
/// stage has when they run.
Status schedule::makeAmpnet(const Sizes &sizes, Table &table) {
  AmpnetRun(sizes, table).run();
  return Status::success();
}
