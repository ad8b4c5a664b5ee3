//===- CheckDeadlock.cpp - Runs a table without its data ------------------===//

#include "runtime/schedule/CheckParts.h"

#include <deque>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

namespace mlc::runtime::schedule {

/// Each rank goes on as far as it can; ranks that others may have released are
/// looked at again. So an action is looked at as often as it is released.
class TableRun {
public:
  explicit TableRun(const TableCheck &check)
      : check(check), next(check.table.ranks.size(), 0),
        hasBegun(check.table.ranks.size(), 0),
        isQueued(check.table.ranks.size(), 1), begun(2 * check.sent.size(), 0),
        arrived(size_t(check.stages)), own(size_t(check.stages)) {
    for (size_t rank = 0; rank < check.table.ranks.size(); ++rank) {
      queue.push_back(int32_t(rank));
      for (const Action &action : check.table.ranks[rank])
        if (isCounted(action.kind) && own[size_t(action.stage)].empty())
          own[size_t(action.stage)].resize(
              check.ranksOf[size_t(action.stage)].size(), 0);
    }
  }

  /// Whether all ranks reach their ends.
  bool run() {
    while (!queue.empty()) {
      int32_t rank = queue.front();
      queue.pop_front();
      isQueued[size_t(rank)] = 0;
      while (!isDone(rank) && advance(rank))
        ;
    }
    for (size_t rank = 0; rank < next.size(); ++rank)
      if (!isDone(int32_t(rank)))
        return false;
    return true;
  }

  bool isDone(int32_t rank) const {
    return next[size_t(rank)] == check.table.ranks[size_t(rank)].size();
  }
  ActionPlace standsAt(int32_t rank) const {
    return {rank, int32_t(next[size_t(rank)])};
  }
  /// What the rank, which stands still, waits for on another rank.
  ActionPlace waitsFor(int32_t rank);

private:
  static bool isCounted(ActionKind kind) {
    return kind == ActionKind::ReduceGradients || kind == ActionKind::Unshard ||
           kind == ActionKind::Step;
  }
  size_t endOfGroup(int32_t rank) const {
    const std::vector<Action> &actions = check.table.ranks[size_t(rank)];
    size_t end = next[size_t(rank)] + 1;
    while (end < actions.size() && actions[end].overlap != kNone &&
           actions[end].overlap == actions[end - 1].overlap)
      ++end;
    return end;
  }
  bool advance(int32_t rank);
  void begin(const ActionPlace &place);
  bool canEnd(const ActionPlace &place, ActionPlace *missing = nullptr);
  bool canEndWait(const ActionPlace &place, ActionPlace *missing);
  bool canEndCollective(const ActionPlace &place, ActionPlace *missing);
  void release(int32_t rank) {
    if (isQueued[size_t(rank)] || isDone(rank))
      return;
    isQueued[size_t(rank)] = 1;
    queue.push_back(rank);
  }
  bool hasRun(const ActionPlace &place) const {
    return size_t(place.index) < next[size_t(place.rank)];
  }
  size_t indexIn(int32_t stage, int32_t rank) const {
    const std::vector<int32_t> &ranks = check.ranksOf[size_t(stage)];
    return size_t(std::lower_bound(ranks.begin(), ranks.end(), rank) -
                  ranks.begin());
  }
  ActionPlace findCollective(int32_t rank, int32_t stage, int64_t number) const;

  const TableCheck &check;
  /// By rank: the action at which it stands, and whether it has begun it.
  std::vector<size_t> next;
  std::vector<uint8_t> hasBegun, isQueued;
  /// By message: begun by the sender (even) and by the receiver (odd).
  std::vector<uint8_t> begun;
  /// By stage, then number of the collective: how many ranks have begun it.
  std::vector<std::vector<int32_t>> arrived;
  /// By stage and rank: how many collectives have begun.
  std::vector<std::vector<int64_t>> own;
  std::deque<int32_t> queue;
};

} // namespace mlc::runtime::schedule

/// One cell of a rank: false if the rank has to wait.
bool TableRun::advance(int32_t rank) {
  const size_t end = endOfGroup(rank);
  if (!hasBegun[size_t(rank)]) {
    hasBegun[size_t(rank)] = 1;
    begin(standsAt(rank));
  }
  for (size_t i = next[size_t(rank)]; i < end; ++i)
    if (!canEnd({rank, int32_t(i)}))
      return false;
  size_t first = next[size_t(rank)];
  next[size_t(rank)] = end;
  hasBegun[size_t(rank)] = 0;
  // Without transfers, others may need what was computed.
  for (size_t i = first; !check.hasTransfers && i < end; ++i) {
    const Action &action = check.table.ranks[size_t(rank)][i];
    if (!hasMicroBatch(action.kind))
      continue;
    size_t item = check.itemOf(action);
    bool isForward = action.kind == ActionKind::Forward;
    for (int32_t stage : isForward ? check.readers[size_t(action.stage)]
                                   : check.reads[size_t(action.stage)])
      release(check.rankOf(check.inStage(item, stage)));
    if (isForward && std::max(action.slice, 0) + 1 < check.slices)
      release(check.rankOf(item + 1));
    if (!isForward && action.slice > 0)
      release(check.rankOf(item - 1));
  }
  return true;
}

void TableRun::begin(const ActionPlace &place) {
  const Action &action = check.at(place);
  if (isSend(action.kind) || isReceive(action.kind)) {
    const size_t message = check.messageOf(action);
    begun[2 * message + isReceive(action.kind)] = 1;
    release((isSend(action.kind) ? check.received : check.sent)[message].rank);
  }
  if (!isCounted(action.kind))
    return;
  const size_t stage = size_t(action.stage);
  int64_t number = own[stage][indexIn(action.stage, place.rank)]++;
  if (arrived[stage].size() <= size_t(number))
    arrived[stage].resize(size_t(number) + 1, 0);
  if (++arrived[stage][size_t(number)] == int32_t(check.ranksOf[stage].size()))
    for (int32_t other : check.ranksOf[stage])
      release(other);
}

/// Whether an action that has begun can end. If not, `missing` is what it waits
/// for.
bool TableRun::canEnd(const ActionPlace &place, ActionPlace *missing) {
  const Action &action = check.at(place);
  bool isBuffered = check.options.isBuffered;
  const ActionKind kind = action.kind;
  if (isReceive(kind) || (isSend(kind) && !isBuffered)) {
    const size_t message = check.messageOf(action);
    if (begun[2 * message + isSend(kind)])
      return true;
    if (missing)
      *missing = (isSend(kind) ? check.received : check.sent)[message];
    return false;
  }
  if (kind == ActionKind::WaitSendForward ||
      kind == ActionKind::WaitSendBackward)
    return !isBuffered || canEndWait(place, missing);
  if (isSend(kind))
    return true;
  if (!hasMicroBatch(kind))
    return canEndCollective(place, missing);
  if (check.hasTransfers)
    return true;
  return check.forNeeds(action, [&](const ActionPlace &needed) {
    if (hasRun(needed))
      return true;
    if (missing)
      *missing = needed;
    return false;
  });
}

/// All that the stage sent of the micro-batch is being received.
bool TableRun::canEndWait(const ActionPlace &place, ActionPlace *missing) {
  const Action &wait = check.at(place);
  const ActionKind kind = wait.kind == ActionKind::WaitSendForward
                              ? ActionKind::SendForward
                              : ActionKind::SendBackward;
  for (int32_t stage : kind == ActionKind::SendForward
                           ? check.readers[size_t(wait.stage)]
                           : check.gradientsTo[size_t(wait.stage)]) {
    Action send = wait;
    send.kind = kind;
    send.peer = stage;
    const size_t message = check.messageOf(send);
    if (!check.sent[message].exists() || begun[2 * message + 1])
      continue;
    if (missing)
      *missing = check.received[message];
    return false;
  }
  return true;
}

/// A collective ends when all ranks of the stage have begun it. Sums of
/// gradients go on where sends do, until the update or a wait.
bool TableRun::canEndCollective(const ActionPlace &place,
                                ActionPlace *missing) {
  const Action &action = check.at(place);
  const std::vector<int32_t> &ranks = check.ranksOf[size_t(action.stage)];
  if (action.kind == ActionKind::Reshard || ranks.size() == 1)
    return true;
  if (action.kind == ActionKind::ReduceGradients && check.options.isBuffered)
    return true;
  const std::vector<int64_t> &counts = own[size_t(action.stage)];
  int64_t number = counts[indexIn(action.stage, place.rank)] - 1;
  if (number < 0 ||
      arrived[size_t(action.stage)][size_t(number)] == int32_t(ranks.size()))
    return true;
  for (int32_t other : ranks)
    if (missing && counts[indexIn(action.stage, other)] <= number) {
      *missing = findCollective(other, action.stage, number);
      break;
    }
  return false;
}

/// All ranks of the stage have as many.
ActionPlace TableRun::findCollective(int32_t rank, int32_t stage,
                                     int64_t number) const {
  int32_t index = 0;
  for (;; ++index) {
    const Action &action = check.at({rank, index});
    if (action.stage == stage && isCounted(action.kind) && number-- == 0)
      return {rank, index};
  }
}

ActionPlace TableRun::waitsFor(int32_t rank) {
  ActionPlace missing;
  for (size_t i = next[size_t(rank)]; canEnd({rank, int32_t(i)}, &missing);)
    ++i;
  return missing;
}

bool TableCheck::checkDeadlock() {
  TableRun run(*this);
  if (run.run())
    return true;
  int32_t rank = 0;
  while (run.isDone(rank))
    ++rank;
  // Who waits for whom ends in a circle.
  std::vector<int32_t> order(table.ranks.size(), kNone), chain;
  while (order[size_t(rank)] == kNone) {
    order[size_t(rank)] = int32_t(chain.size());
    chain.push_back(rank);
    rank = run.waitsFor(rank).rank;
  }
  chain.erase(chain.begin(), chain.begin() + order[size_t(rank)]);
  std::string text = "a deadlock: it waits for ";
  constexpr size_t most = 4;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (i == most) {
      text += ", and so on through " + std::to_string(chain.size()) + " ranks";
      break;
    }
    text += i == 0
                ? ""
                : ", where " + describe(run.standsAt(chain[i])) + " waits for ";
    text += describe(run.waitsFor(chain[i]));
  }
  if (hasTransfers && !options.isBuffered)
    text += "; nothing is buffered, a send ends when its receive has begun";
  return refuse(run.standsAt(chain.front()), text);
}
