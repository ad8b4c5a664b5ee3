//===- Channels.h - Messages from one rank to another -----------*- C++ -*-===//
//
// A channel is a group of two ranks, so that its messages wait for nobody else.
// runtime/Ranks.h says what they promise.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_CHANNELS_H
#define MLC_RUNTIME_TRANSPORT_CHANNELS_H

#include "runtime/Ranks.h"
#include "runtime/transport/Progress.h"

#include <functional>
#include <map>

namespace mlc::runtime::transport {

class Channels {
public:
  /// `onOver` is called on the thread of `progress` after each message.
  Channels(Progress &progress, std::function<void()> onOver)
      : progress(progress), onOver(std::move(onOver)) {}

  /// Splits a group off `all` for each channel; on the thread, by all ranks.
  Status open(const std::vector<Ranks::Channel> &wanted, Communicator &all);
  /// As those of runtime/Ranks.h.
  uint64_t begin(size_t channel, const std::string &name, void *data,
                 uint64_t bytes);
  Status wait(uint64_t message);

  /// Bytes that this rank has sent; on the thread.
  uint64_t sentBytes() const;
  /// On the thread, before the ranks that the groups were split from end.
  void close() { pairs.clear(); }

private:
  struct Job;
  struct Pair {
    Ranks::Channel channel;
    int rank;                            ///< this one among all
    std::unique_ptr<Communicator> group; ///< null where this rank is no end
  };

  Progress &progress;
  std::function<void()> onOver;
  std::vector<Pair> pairs;
  /// Messages under way, by their tickets, and others to use again.
  std::map<uint64_t, std::shared_ptr<Job>> underWay;
  std::vector<std::shared_ptr<Job>> unused;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_CHANNELS_H
