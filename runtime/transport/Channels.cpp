//===- Channels.cpp - Messages from one rank to another -------------------===//

#include "runtime/transport/Channels.h"

namespace mlc::runtime::transport {

struct Channels::Job : Progress::Work {
  const Channels *owner = nullptr;
  std::string name;
  Transfer transfer = {};
  void *data = nullptr;

  Status begin(Communicator &communicator) override {
    Program program;
    program.steps.push_back({{transfer}, {}});
    return communicator.begin(name, std::move(program), MLC_U8, data);
  }
  Status advance(Communicator &communicator, int64_t nanoseconds,
                 bool &isOver) override {
    Status status = communicator.advance(nanoseconds, isOver);
    if (status.ok() && isOver)
      owner->onOver();
    return status;
  }
};

Status Channels::open(const std::vector<Ranks::Channel> &wanted,
                      Communicator &all) {
  for (const Ranks::Channel &channel : wanted) {
    const int own = all.rank();
    const bool isEnd = channel.from == own || channel.to == own;
    pairs.push_back({channel, own, nullptr});
    Status status = all.split(isEnd ? 0 : -1,
                              "from rank " + std::to_string(channel.from) +
                                  " to " + std::to_string(channel.to),
                              pairs.back().group);
    if (!status.ok())
      return status;
  }
  return Status::success();
}

uint64_t Channels::begin(size_t channel, const std::string &name, void *data,
                         uint64_t bytes) {
  const Pair &pair = pairs[channel];
  const auto [from, to] = pair.channel;
  const bool sends = from == pair.rank;
  if (unused.empty())
    unused.push_back(std::make_shared<Job>());
  std::shared_ptr<Job> job = std::move(unused.back());
  unused.pop_back();
  job->owner = this;
  job->name = name;
  // The group has its two ranks in the order of all.
  const int other = (sends ? to : from) < pair.rank ? 0 : 1;
  job->transfer = {sends ? Transfer::Send : Transfer::Receive,
                   other,
                   {Place::Data, 0, static_cast<int64_t>(bytes)}};
  job->data = data;
  const uint64_t ticket = progress.start(*pair.group, *job);
  underWay[ticket] = std::move(job);
  return ticket;
}

Status Channels::wait(uint64_t message) {
  Status status = progress.wait(message);
  auto it = underWay.find(message);
  if (status.ok() && it != underWay.end()) {
    unused.push_back(std::move(it->second));
    underWay.erase(it);
  }
  return status;
}

uint64_t Channels::sentBytes() const {
  uint64_t bytes = 0;
  for (const Pair &pair : pairs)
    if (pair.group)
      bytes += pair.group->counters().sent_bytes;
  return bytes;
}

} // namespace mlc::runtime::transport
