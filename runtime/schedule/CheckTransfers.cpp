//===- CheckTransfers.cpp - Messages and collectives have partners --------===//

#include "runtime/schedule/CheckParts.h"

#include <unordered_map>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

static std::string rankText(int32_t rank) {
  return "rank " + std::to_string(rank);
}

static bool isForwardTransfer(ActionKind kind) {
  return kind == ActionKind::SendForward || kind == ActionKind::ReceiveForward;
}

/// Without others given, stages read the one before them and those that
/// transfers name.
bool TableCheck::findReads() {
  std::vector<Reading> all = options.reads;
  if (all.empty()) {
    all = readPrevious(stages);
    for (const std::vector<Action> &actions : table.ranks)
      for (const Action &action : actions)
        if (const int32_t peer = peerOf(action);
            action.kind == ActionKind::ReceiveForward && peer >= 0 &&
            peer < action.stage)
          all.push_back({peer, action.stage});
  }
  for (auto *lists : {&reads, &readers, &gradientsTo, &gradientsFrom})
    lists->resize(size_t(stages));
  for (const Reading &reading : all) {
    if (reading.from < 0 || reading.from >= reading.to ||
        reading.to >= stages) {
      status = Status::badFile(
          "stage " + std::to_string(reading.to) + " cannot read stage " +
          std::to_string(reading.from) + "; it reads stages before it");
      return false;
    }
    reads[size_t(reading.to)].push_back(reading.from);
    readers[size_t(reading.from)].push_back(reading.to);
    if (!reading.hasGradient)
      continue;
    gradientsTo[size_t(reading.to)].push_back(reading.from);
    gradientsFrom[size_t(reading.from)].push_back(reading.to);
  }
  for (auto *lists : {&reads, &readers, &gradientsTo, &gradientsFrom})
    for (std::vector<int32_t> &stage : *lists) {
      std::sort(stage.begin(), stage.end());
      stage.erase(std::unique(stage.begin(), stage.end()), stage.end());
    }
  return true;
}

void TableCheck::numberEdges() {
  for (const std::vector<int32_t> &stage : reads) {
    firstEdge.push_back(edges);
    edges += stage.size();
  }
  if (!hasTransfers)
    return;
  const size_t messages = 2 * edges * size_t(microBatches) * size_t(slices);
  sent.resize(messages);
  received.resize(messages);
}

size_t TableCheck::messageOf(const Action &transfer) const {
  int32_t peer = peerOf(transfer);
  if (peer < 0 || peer >= stages)
    return numberless();
  // Results go to later stages, gradients come from them.
  bool isFromReader = transfer.kind == ActionKind::ReceiveForward ||
                      transfer.kind == ActionKind::SendBackward;
  const int32_t reader = isFromReader ? transfer.stage : peer,
                read = isFromReader ? peer : transfer.stage;
  const std::vector<int32_t> &all = reads[size_t(reader)],
                             &gradients = gradientsTo[size_t(reader)];
  const auto found = std::lower_bound(all.begin(), all.end(), read);
  if (found == all.end() || *found != read ||
      (!isForwardTransfer(transfer.kind) &&
       !std::binary_search(gradients.begin(), gradients.end(), read)))
    return numberless();
  return messageOf(isForwardTransfer(transfer.kind),
                   firstEdge[size_t(reader)] + size_t(found - all.begin()),
                   itemOf(transfer));
}

/// Why messageOf() is numberless().
std::string TableCheck::whyNoMessage(const Action &transfer) const {
  const int32_t peer = peerOf(transfer);
  const std::string stage = "stage " + std::to_string(transfer.stage),
                    other = "stage " + std::to_string(peer);
  if (transfer.peer == kNone && peer < 0)
    return stage + " has no stage before it";
  if (transfer.peer == kNone && peer >= stages)
    return stage + " has no stage after it; there are " +
           std::to_string(stages);
  if (peer < 0 || peer >= stages)
    return "there is no " + other + "; there are " + std::to_string(stages) +
           ", numbered from 0";
  const bool isFromReader = transfer.kind == ActionKind::ReceiveForward ||
                            transfer.kind == ActionKind::SendBackward;
  if (isFromReader ? peer >= transfer.stage : peer <= transfer.stage)
    return "results go to later stages, gradients to earlier ones, and this is "
           "between " +
           stage + " and " + other;
  const std::string &reader = isFromReader ? stage : other,
                    &read = isFromReader ? other : stage;
  return isForwardTransfer(transfer.kind)
             ? reader + " does not read " + read
             : reader + " has no gradient for " + read;
}

bool TableCheck::placeTransfer(const ActionPlace &place) {
  const Action &action = at(place);
  size_t message = messageOf(action);
  if (message == numberless())
    return refuse(place, whyNoMessage(action));
  ActionPlace &first = (isSend(action.kind) ? sent : received)[message];
  if (first.exists())
    return refuse(place, "it is there twice, first at " + describe(first));
  first = place;
  return true;
}

bool TableCheck::checkTransfers() {
  if (!checkWaits())
    return false;
  if (!hasTransfers)
    return true;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      ActionPlace place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      if ((isSend(action.kind) || isReceive(action.kind)) &&
          !checkSide(place, itemOf(action)))
        return false;
    }
  const size_t perStage = size_t(microBatches) * size_t(slices);
  for (int32_t reader = 0; reader < stages; ++reader)
    for (size_t i = 0; i < reads[size_t(reader)].size(); ++i)
      for (size_t j = 0; j < perStage; ++j) {
        const int32_t read = reads[size_t(reader)][i];
        const size_t edge = firstEdge[size_t(reader)] + i;
        if (!checkMessage(true, read, reader, messageOf(true, edge, j)))
          return false;
        if (std::binary_search(gradientsTo[size_t(reader)].begin(),
                               gradientsTo[size_t(reader)].end(), read) &&
            !checkMessage(false, reader, read, messageOf(false, edge, j)))
          return false;
      }
  return checkChannels();
}

/// A transfer that stands in the table: on the rank, and in the place, where
/// the stage's computation is.
bool TableCheck::checkSide(const ActionPlace &place, size_t item) {
  const ActionKind kind = at(place).kind;
  if (place.rank != rankOf(item))
    return refuse(place, "the rank does not run " +
                             nameOf(ActionKind::Forward, item) + ", " +
                             rankText(rankOf(item)) + " does");
  if (!isForwardTransfer(kind) && !hasBackward)
    return refuse(place, "there is no backward pass");
  if (rankOf(inStage(item, peerOf(at(place)))) == place.rank)
    return refuse(place, "it needs no transfer: stage " +
                             std::to_string(peerOf(at(place))) +
                             " is on the same rank");
  const ActionPlace &computed = isForwardTransfer(kind)
                                    ? placeOf(ActionKind::Forward, item)
                                    : gradientOf(item);
  if (isSend(kind) && place.index < computed.index)
    return refuse(place, "it sends before " + describe(computed) +
                             ", which computes it");
  if (!isSend(kind) && place.index > computed.index)
    return refuse(place, "it receives after " + describe(computed) +
                             ", which needs it");
  return true;
}

/// What crosses ranks is sent and received, in one size.
bool TableCheck::checkMessage(bool isForward, int32_t from, int32_t to,
                              size_t message) {
  const size_t item = message % (size_t(microBatches) * size_t(slices)),
               sender = inStage(item, from), receiver = inStage(item, to);
  if (rankOf(sender) == rankOf(receiver) || (!isForward && !hasBackward))
    return true;
  auto nameOfSide = [&](bool isSending) {
    WorkItem numbers = numbersOf(isSending ? sender : receiver);
    Action action;
    action.kind = isForward   ? isSending ? ActionKind::SendForward
                                          : ActionKind::ReceiveForward
                  : isSending ? ActionKind::SendBackward
                              : ActionKind::ReceiveBackward;
    action.stage = numbers.stage;
    action.microBatch = numbers.microBatch;
    action.slice = isSliced ? numbers.slice : kNone;
    if (peerOf(action) != (isSending ? to : from))
      action.peer = isSending ? to : from;
    return toString(action);
  };
  const ActionPlace &send = sent[message], &receive = received[message];
  if (!send.exists() && !receive.exists())
    return refuseMissing(rankOf(sender), nameOfSide(true),
                         "stage " + std::to_string(to) + " is on " +
                             rankText(rankOf(receiver)));
  if (!send.exists())
    return refuse(receive, "it has no partner: " + rankText(rankOf(sender)) +
                               " has no " + nameOfSide(true));
  if (!receive.exists())
    return refuse(send, "it has no partner: " + rankText(rankOf(receiver)) +
                            " has no " + nameOfSide(false));
  if (!options.bytes)
    return true;
  int64_t out = options.bytes(send.rank, at(send)),
          in = options.bytes(receive.rank, at(receive));
  return out == in || refuse(send, "it sends " + std::to_string(out) +
                                       " bytes, " + describe(receive) +
                                       " receives " + std::to_string(in));
}

/// Two ranks send and receive what they exchange in one order.
bool TableCheck::checkChannels() {
  std::vector<int32_t> numbers(sent.size(), 0);
  std::unordered_map<uint64_t, int32_t> sends, receives;
  auto channel = [](int32_t from, int32_t to) {
    return uint64_t(uint32_t(from)) << 32 | uint32_t(to);
  };
  for (bool isSending : {true, false})
    for (const std::vector<Action> &actions : table.ranks)
      for (const Action &action : actions) {
        if (isSending ? !isSend(action.kind) : !isReceive(action.kind))
          continue;
        const size_t message = messageOf(action);
        const ActionPlace &send = sent[message], &receive = received[message];
        const uint64_t between = channel(send.rank, receive.rank);
        if (isSending) {
          numbers[message] = ++sends[between];
          continue;
        }
        const int32_t number = ++receives[between];
        if (number == numbers[message])
          continue;
        return refuse(receive, "it receives message " + std::to_string(number) +
                                   " of " + rankText(send.rank) + ", but " +
                                   describe(send) + " sends message " +
                                   std::to_string(numbers[message]) +
                                   "; bring them into one order");
      }
  return true;
}

/// Sends that are waited for, each once and after they began.
bool TableCheck::checkWaits() {
  for (auto [send, wait] :
       {std::pair(ActionKind::SendForward, ActionKind::WaitSendForward),
        std::pair(ActionKind::SendBackward, ActionKind::WaitSendBackward)}) {
    std::vector<ActionPlace> last(
        size_t(stages) * size_t(microBatches) * size_t(slices), ActionPlace());
    for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
      const std::vector<Action> &actions = table.ranks[rank];
      bool hasWaits = false;
      for (size_t i = 0; i < actions.size(); ++i) {
        ActionPlace place{int32_t(rank), int32_t(i)};
        if (actions[i].kind == send)
          last[itemOf(actions[i])] = place;
        if (actions[i].kind != wait)
          continue;
        hasWaits = true;
        if (last[itemOf(actions[i])].rank != place.rank)
          return refuse(place, "the rank has sent nothing that it could wait "
                               "for");
      }
      for (size_t i = 0; hasWaits && i < actions.size(); ++i) {
        if (actions[i].kind != send)
          continue;
        ActionPlace place{int32_t(rank), int32_t(i)};
        const ActionPlace &waits = placeOf(wait, itemOf(actions[i]));
        if (!waits.exists() || waits.index < place.index)
          return refuse(place, "nothing waits for it; the rank waits for its "
                               "other sends");
      }
    }
  }
  return true;
}

static bool isCollective(ActionKind kind) {
  return kind == ActionKind::ReduceGradients || kind == ActionKind::Unshard ||
         kind == ActionKind::Norm || kind == ActionKind::Step;
}

/// All ranks of a stage run its collectives, in one order.
bool TableCheck::checkCollectives() {
  std::vector<std::vector<ActionPlace>> first;
  first.resize(size_t(stages));
  std::vector<size_t> next(size_t(stages), 0);
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    for (size_t i = 0; i < table.ranks[rank].size(); ++i) {
      ActionPlace place{int32_t(rank), int32_t(i)};
      const Action &action = at(place);
      const size_t stage = size_t(action.stage);
      if (!isCollective(action.kind) || ranksOf[stage].size() == 1)
        continue;
      if (place.rank == ranksOf[stage].front()) {
        first[stage].push_back(place);
        ++next[stage];
        continue;
      }
      if (next[stage] == first[stage].size())
        return refuse(place, "the stage is also on " +
                                 rankText(ranksOf[stage].front()) +
                                 ", which does not take part");
      const ActionPlace &other = first[stage][next[stage]++];
      if (at(other).kind != action.kind)
        return refuse(place, "the stage's ranks have its collectives in "
                             "different orders: " +
                                 describe(other) + " is in its place");
    }
    for (const Action &action : table.ranks[rank]) {
      const size_t stage = size_t(action.stage);
      if (action.kind == ActionKind::Forward &&
          next[stage] < first[stage].size()) {
        const ActionPlace &other = first[stage][next[stage]];
        return refuseMissing(int32_t(rank), toString(at(other)),
                             "the stage is also on " + rankText(other.rank) +
                                 ", which has it: " + describe(other));
      }
    }
    for (const Action &action : table.ranks[rank])
      next[size_t(action.stage)] = 0;
  }
  return true;
}
