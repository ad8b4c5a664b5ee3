//===- ProgramRun.cpp - Programs of sends over links ----------------------===//

#include "simulator/cluster/ProgramRun.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlc;
using namespace mlc::simulator;
using runtime::Status;
using runtime::transport::LocalStep;
using runtime::transport::Step;
using runtime::transport::Transfer;

void ProgramRun::add(const CollectiveCall &call,
                     std::vector<runtime::transport::Program> programs) {
  const int first = static_cast<int>(ranks.size());
  for (size_t i = 0; i < programs.size(); ++i)
    ranks.push_back(
        {&call, calls, std::move(programs[i]), call.ranks[i], first});
  ++calls;
}

/// For each level, the most ranks that are in one of its links.
std::vector<int> ProgramRun::countTalking() const {
  std::vector<int> most;
  for (int level = 0; level < static_cast<int>(cluster.levels.size());
       ++level) {
    std::map<int, int> counts;
    int talking = 1;
    for (const Rank &rank : ranks)
      talking =
          std::max(talking, ++counts[cluster.groupOf(level, rank.global)]);
    most.push_back(talking);
  }
  return most;
}

void ProgramRun::schedule(Time time, Event::Kind kind, int index) {
  events.push({time, order++, kind, index});
}

double ProgramRun::secondsToSum(int rank, double bytes) const {
  const Device &device = cluster.deviceOf(ranks[rank].global);
  return device.sumBytesPerSecond ? bytes / device.sumBytesPerSecond->value : 0;
}

bool ProgramRun::isThrottled(const Message &message) const {
  return cluster
      .levels[cluster.levelOf(ranks[message.from].global,
                              ranks[message.to].global)]
      .throttled;
}

/// With two messages under way, the third waits for the first one's arrival.
double ProgramRun::mostRate(const Message &message) const {
  const auto piece =
      static_cast<double>(ranks[message.from].call->messageBytes);
  if (piece == 0 || static_cast<double>(message.bytes) <= 2 * piece)
    return std::numeric_limits<double>::infinity();
  const int level =
      cluster.levelOf(ranks[message.from].global, ranks[message.to].global);
  return 2 * piece /
         (cluster.levels[level].latencySeconds.value +
          piece / links->bandwidth(level));
}

void ProgramRun::post(int index, const Transfer &transfer, Time now) {
  Rank &rank = ranks[index];
  const int peer = rank.first + transfer.peer;
  const bool isSend = transfer.kind == Transfer::Send;
  const std::pair<int, int> key =
      isSend ? std::pair(index, peer) : std::pair(peer, index);
  std::deque<int> &waiting = open[key];
  // The k-th send matches the k-th receive; those that wait are of one kind.
  int message;
  if (!waiting.empty() && (isSend ? !messages[waiting.front()].sent
                                  : !messages[waiting.front()].awaited)) {
    message = waiting.front();
    waiting.pop_front();
  } else {
    message = static_cast<int>(messages.size());
    messages.push_back({key.first, key.second,
                        transfer.range.length * rank.call->elementBytes});
    waiting.push_back(message);
  }
  if (isSend)
    messages[message].sent = true;
  else
    messages[message].awaited = true;
  messages[message].adds |= transfer.kind == Transfer::ReceiveAdd;
  startIfReady(message, now);
}

/// Gives the link the bytes up to `until`.
void ProgramRun::travel(int index, int64_t until) {
  Message &message = messages[index];
  const auto more = static_cast<double>(until - message.begun);
  if (message.inLink)
    links->extend(index, more);
  else
    links->begin(index, ranks[message.from].global, ranks[message.to].global,
                 more, mostRate(message));
  message.inLink = true;
  message.begun = until;
}

void ProgramRun::startIfReady(int index, Time now) {
  Message &message = messages[index];
  if (message.arrived) { // before its receive
    deliver(index, std::max(now, message.arrival));
    return;
  }
  if (!message.sent || !(message.awaited || isThrottled(message)))
    return;
  // Before its receive, only what is under way passes a throttled link.
  const int64_t piece = ranks[message.from].call->messageBytes;
  const int64_t until = message.awaited || piece == 0
                            ? message.bytes
                            : std::min(message.bytes, 2 * piece);
  if (!message.started)
    message.began = now;
  message.started = true;
  if (message.begun < until)
    travel(index, until);
}

void ProgramRun::endTravel(int index, Time now) {
  Message &message = messages[index];
  message.inLink = false;
  if (message.begun < message.bytes)
    return;
  const int level =
      cluster.levelOf(ranks[message.from].global, ranks[message.to].global);
  schedule(sum(now, toTime(cluster.levels[level].latencySeconds.value)),
           Event::Arrive, index);
}

/// Both sides are done: the sender when the message is there, the receiver when
/// it is added. Messages are added while the next ones travel.
void ProgramRun::deliver(int index, Time now) {
  const Message &message = messages[index];
  finishTransfer(message.from, now);
  Time end = now;
  if (message.adds) {
    Rank &rank = ranks[message.to];
    const auto bytes = static_cast<double>(message.bytes);
    const auto given = static_cast<double>(rank.call->messageBytes);
    const double piece = given > 0 ? std::min(given, bytes) : bytes;
    const double pieces = std::max(1.0, std::ceil(bytes / piece));
    const double last = bytes - (pieces - 1) * piece;
    const double latency =
        cluster.levels[cluster.levelOf(ranks[message.from].global, rank.global)]
            .latencySeconds.value;
    const double travel =
        std::max(0.0, toSeconds(message.arrival - message.began) - latency);
    const Time first =
        sum(message.began, toTime(latency + travel * piece / bytes));
    const Time sums = sum(std::max(first, rank.sumsEnd),
                          toTime(secondsToSum(message.to, bytes)));
    end = std::max(sum(now, toTime(secondsToSum(message.to, last))), sums);
    rank.sumsEnd = end;
  }
  finishTransfer(message.to, end);
}

void ProgramRun::finishTransfer(int index, Time end) {
  Rank &rank = ranks[index];
  rank.done = std::max(rank.done, end);
  if (--rank.left)
    return;
  double bytes = 0;
  for (const LocalStep &local : rank.program.steps[rank.step].local)
    bytes += static_cast<double>(local.to.length * rank.call->elementBytes);
  rank.done = sum(rank.done, toTime(secondsToSum(index, bytes)));
  ++rank.step;
  schedule(rank.done, Event::BeginStep, index);
}

void ProgramRun::beginStep(int index, Time now) {
  Rank &rank = ranks[index];
  rank.done = now;
  if (rank.step == rank.program.steps.size())
    return;
  const Step &step = rank.program.steps[rank.step];
  // One more than there are, so that the step cannot end before all are begun.
  rank.left = step.transfers.size() + 1;
  for (const Transfer &transfer : step.transfers)
    post(index, transfer, now);
  finishTransfer(index, now);
}

void ProgramRun::handle(const Event &event) {
  if (event.kind == Event::BeginStep)
    return beginStep(event.index, event.time);
  Message &message = messages[event.index];
  message.arrived = true;
  message.arrival = event.time;
  if (message.awaited)
    deliver(event.index, event.time);
}

Status ProgramRun::run(std::vector<Time> &times) {
  Links shared(cluster, countTalking());
  links = &shared;
  for (size_t i = 0; i < ranks.size(); ++i)
    schedule(0, Event::BeginStep, static_cast<int>(i));
  while (!events.empty() || !shared.isEmpty()) {
    const Time end =
        shared.isEmpty() ? std::numeric_limits<Time>::max() : shared.nextEnd();
    const Time next = events.empty() ? end : std::min(end, events.top().time);
    for (int index : shared.advance(next))
      endTravel(index, next);
    while (!events.empty() && events.top().time <= next) {
      const Event event = events.top();
      events.pop();
      handle(event);
    }
  }
  times.assign(calls, 0);
  for (const Rank &rank : ranks) {
    if (rank.step < rank.program.steps.size())
      return Status::error(MLC_INTERNAL,
                           fmt::format("rank {} waits for ever in step {}",
                                       rank.global, rank.step));
    times[rank.callIndex] = std::max(times[rank.callIndex], rank.done);
  }
  return Status::success();
}
