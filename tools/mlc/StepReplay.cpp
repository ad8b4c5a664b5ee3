//===- StepReplay.cpp - A simulated step over real links ------------------===//

#include "tools/mlc/StepReplay.h"
#include "runtime/schedule/StageRanks.h"
#include "runtime/train/Group.h"
#include "tools/mlc/Failure.h"
#include <mutex>
#include <thread>

using namespace mlc;
using namespace mlc::cli;
using runtime::Status;
using runtime::schedule::Action;
using runtime::schedule::ActionKind;

StepReplay::StepReplay(const Simulation &step, runtime::Ranks &ranks)
    : step(step), ranks(ranks) {
  // All ranks make the same channels in the same order.
  for (const simulator::TransferTime &transfer : step.timeline.transfers) {
    const size_t channel = channelOf(transfer.from, transfer.to);
    const std::string name = toString(
        step.table.ranks[size_t(transfer.from)][size_t(transfer.fromIndex)]);
    if (transfer.from == ranks.rank())
      messages[size_t(transfer.fromIndex)] = {channel, transfer.bytes,
                                              /*isSend=*/true, name};
    if (transfer.to == ranks.rank())
      messages[size_t(transfer.toIndex)] = {channel, transfer.bytes,
                                            /*isSend=*/false, name};
  }
  addReductions();
}

/// The first rank of a stage receives the sums of the others, and sends theirs
/// back.
void StepReplay::addReductions() {
  const auto having = runtime::schedule::findRanks(step.table);
  for (size_t stage = 0; stage < having.size(); ++stage) {
    int64_t bytes = 0;
    for (const simulator::StepMemory::State &state : step.step.states)
      bytes += state.sumOf == int64_t(stage) ? state.bytes : 0;
    std::vector<Message> gathers, scatters;
    for (int32_t other : llvm::drop_begin(having[stage])) {
      const int first = having[stage].front();
      const size_t there = channelOf(other, first),
                   back = channelOf(first, other);
      const bool isFirst = ranks.rank() == first;
      if (!isFirst && ranks.rank() != other)
        continue;
      const std::string name = "sums of stage " + std::to_string(stage);
      gathers.push_back({there, bytes, !isFirst, name});
      scatters.push_back({back, bytes, isFirst, name});
    }
    llvm::append_range(gathers, scatters);
    reductions[int64_t(stage)] = std::move(gathers);
  }
}

size_t StepReplay::channelOf(int from, int to) {
  const runtime::Ranks::Channel channel{from, to};
  auto known = llvm::find(channels, channel);
  const size_t index = known - channels.begin();
  if (known == channels.end())
    channels.push_back(channel);
  return index;
}

/// Messages of a channel come one after the other; what is sent only has a
/// size.
std::vector<char> &StepReplay::memoryOf(const Message &message) {
  return message.isSend ? sendMemory : receiveMemory[message.channel];
}

Status StepReplay::open() {
  receiveMemory.resize(channels.size());
  auto reserve = [&](const Message &message) {
    std::vector<char> &memory = memoryOf(message);
    memory.resize(std::max(memory.size(), size_t(message.bytes)));
  };
  for (const auto &[index, message] : messages)
    reserve(message);
  for (const auto &[stage, all] : reductions)
    llvm::for_each(all, reserve);
  return ranks.openChannels(channels);
}

uint64_t StepReplay::begin(const Message &message) {
  return ranks.beginMessage(message.channel, message.name,
                            memoryOf(message).data(), uint64_t(message.bytes));
}

/// Waits for a message. Time goes on by what it makes this rank wait.
Status StepReplay::await(uint64_t message) {
  if (ranks.isMessageOver(message))
    return ranks.waitForMessage(message);
  Status status = ranks.waitForMessage(message);
  now = std::max(now, Clock::now());
  return status;
}

Status StepReplay::compute(const Action &action, simulator::Time time) {
  // An update needs no message of a micro-batch.
  auto needed = waiting.find({action.stage, action.microBatch});
  if (needed != waiting.end()) {
    for (uint64_t message : needed->second)
      if (Status status = await(message); !status.ok())
        return status;
    waiting.erase(needed);
  }
  now += std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(simulator::toSeconds(time)));
  std::this_thread::sleep_until(now);
  return Status::success();
}

Status StepReplay::reduce(int64_t stage) {
  for (const Message &message : reductions[stage])
    if (Status status = await(begin(message)); !status.ok())
      return status;
  return Status::success();
}

Status StepReplay::run(double &seconds) {
  const std::vector<Action> &actions = step.table.ranks[ranks.rank()];
  const std::vector<simulator::Interval> &times =
      step.timeline.ranks[ranks.rank()];
  std::vector<uint64_t> sent;
  const Clock::time_point start = now = Clock::now();
  Status status;
  for (size_t i = 0; status.ok() && i < actions.size(); ++i) {
    const Action &action = actions[i];
    auto message = messages.find(i);
    if (runtime::schedule::isCompute(action.kind)) {
      status = compute(action, times[i].end - times[i].start);
    } else if (action.kind == ActionKind::ReduceGradients) {
      status = reduce(action.stage);
    } else if (message != messages.end()) {
      const uint64_t begun = begin(message->second);
      if (message->second.isSend)
        sent.push_back(begun);
      else
        waiting[{action.stage, action.microBatch}].push_back(begun);
    }
  }
  for (uint64_t message : sent)
    if (status.ok())
      status = await(message);
  waiting.clear();
  seconds = std::chrono::duration<double>(std::max(now, Clock::now()) - start)
                .count();
  return status;
}

/// The steps of one rank.
static Status replayRank(const Simulation &step,
                         const std::shared_ptr<runtime::Ranks> &own,
                         unsigned count, std::vector<double> &slowest) {
  const runtime::train::Group group(own);
  StepReplay replay(step, *own);
  Status status = replay.open();
  std::vector<int64_t> all;
  for (unsigned i = 0; status.ok() && i <= count; ++i) {
    double seconds = 0;
    // All begin together.
    status = group.gather({0}, all);
    if (status.ok())
      status = replay.run(seconds);
    if (status.ok())
      status = group.gather({int64_t(seconds * 1e9)}, all);
    if (status.ok() && i > 0)
      slowest.push_back(double(*llvm::max_element(all)) * 1e-9);
  }
  return status;
}

llvm::Expected<std::vector<double>>
mlc::cli::replaySteps(const Simulation &step,
                      llvm::ArrayRef<std::shared_ptr<runtime::Ranks>> ranks,
                      unsigned count) {
  std::vector<double> seconds;
  std::mutex mutex;
  Status failed;
  auto work = [&](size_t index) {
    std::vector<double> own;
    Status status = replayRank(step, ranks[index], count, own);
    if (status.ok())
      status = ranks[index]->finish();
    std::lock_guard lock(mutex);
    if (index == 0)
      seconds = std::move(own);
    if (status.ok())
      return;
    if (failed.ok())
      failed = status;
    ranks[index]->abort(status.code);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < ranks.size(); ++i)
    others.emplace_back([&, i] { work(i); });
  work(0);
  for (std::thread &other : others)
    other.join();
  if (!failed.ok())
    return statusFailure(failed);
  return seconds;
}
