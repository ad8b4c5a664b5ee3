//===- ProgramRun.h - Programs of sends over links --------------*- C++ -*-===//
//
// Runs the programs of runtime/transport, which the ranks themselves run, over
// a cluster's links: a transfer begins when its send and its receive are
// posted, a step ends with the last of its transfers, and sums and copies
// follow. Nothing is moved; only time passes.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_CLUSTER_PROGRAMRUN_H
#define MLC_SIMULATOR_CLUSTER_PROGRAMRUN_H

#include "simulator/cluster/CollectiveCall.h"
#include "simulator/cluster/Links.h"
#include <deque>
#include <queue>

namespace mlc::simulator {

class ProgramRun {
public:
  explicit ProgramRun(const Cluster &cluster) : cluster(cluster) {}

  /// `programs` of the call's ranks, in their order.
  void add(const CollectiveCall &call,
           std::vector<runtime::transport::Program> programs);
  /// The end of each call. MLC_INTERNAL if ranks wait for ever.
  runtime::Status run(std::vector<Time> &times);

private:
  struct Rank {
    const CollectiveCall *call;
    size_t callIndex;
    runtime::transport::Program program;
    int global;
    int first; // index of the group's first rank
    size_t step = 0;
    size_t left = 0;  // transfers of the step that are not done
    Time done = 0;    // the latest end among those that are
    Time sumsEnd = 0; // its processor adds until then
  };
  /// A send with its receive; either may come first.
  struct Message {
    int from, to; // indices of ranks
    int64_t bytes;
    bool adds = false;
    bool sent = false, awaited = false, started = false, arrived = false;
    int64_t begun = 0;   // bytes that the link has been given
    bool inLink = false; // some of them still travel
    Time began = 0, arrival = 0;
  };
  struct Event {
    Time time;
    int64_t order; // of events at one time
    enum Kind { BeginStep, Arrive } kind;
    int index; // rank, or message
    bool operator>(const Event &other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void schedule(Time time, Event::Kind kind, int index);
  void beginStep(int rank, Time now);
  void post(int rank, const runtime::transport::Transfer &transfer, Time now);
  void startIfReady(int message, Time now);
  void travel(int message, int64_t until);
  void endTravel(int message, Time now);
  void deliver(int message, Time now);
  void finishTransfer(int rank, Time end);
  double secondsToSum(int rank, double bytes) const;
  double mostRate(const Message &message) const;
  bool isThrottled(const Message &message) const;
  std::vector<int> countTalking() const;
  void handle(const Event &event);

  const Cluster &cluster;
  std::vector<Rank> ranks;
  size_t calls = 0;
  std::vector<Message> messages;
  // Messages from one rank to another of which one side is missing.
  std::map<std::pair<int, int>, std::deque<int>> open;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  int64_t order = 0;
  Links *links = nullptr;
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_PROGRAMRUN_H
