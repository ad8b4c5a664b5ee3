//===- StaleServer.h - A parameter server with bounded staleness -*- C++ -*-==//
//
// The last rank has the weights; the others, the workers, send it a gradient
// and get weights back, once a clock, each at its own pace. A worker that has
// pushed c gradients gets weights as soon as the slowest has pushed c -
// staleness (Ho et al., More Effective Distributed ML via a Stale Synchronous
// Parallel Parameter Server, 2013): so what it reads has all updates but the
// last `staleness` of each other worker, and its own.
//
// With staleness 0 all gradients of a clock are added in the order of the
// ranks, (g0 + g1) + ..., and applied as one: what Algorithm::Server sums, bit
// for bit, in every run. Else each is applied as it comes.
//
// The ranks send N M bytes to the server in a clock, and it as many back.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_STALESERVER_H
#define MLC_RUNTIME_TRANSPORT_STALESERVER_H

#include "runtime/transport/Progress.h"

#include <functional>

namespace mlc::runtime::transport {

class StaleServer {
public:
  struct Options {
    int64_t elements = 0;
    mlc_dtype type = MLC_F32;
    int64_t staleness = 0;
    int64_t clocks = 0; // how often each worker pushes
    bool keepsRecords = true;
  };
  /// Gradients that are to be applied.
  struct Push {
    int worker;      // whose it is; -1: all workers', summed
    int64_t clock;   // the how many-th of this worker
    int64_t slowest; // how many the slowest worker has pushed, this one counted
  };
  /// A push that has come (`slowest` -1), or weights that go back.
  struct Record {
    int worker;
    int64_t clock;   // how many it has pushed
    int64_t slowest; // how many the slowest worker has
  };
  /// Changes the weights by a gradient. An error ends serve().
  using Apply = std::function<Status(void *weights, const void *gradient,
                                     const Push &push)>;

  /// All ranks of `world` call it together, at least two. Until it ends, the
  /// world is not used otherwise.
  static Status open(Communicator &world, const Options &options,
                     std::unique_ptr<StaleServer> &result);

  bool isServer() const { return server; }
  int workers() const { return static_cast<int>(lines.size()); }

  /// A worker's clock: push() begins to send a gradient, pull() waits until it
  /// has gone and the weights have come. Both stay the caller's, and may be
  /// the same memory; after an error they are written to until abort().
  void push(const void *gradient);
  Status pull(void *weights);

  /// The server's whole work: all clocks of all workers.
  Status serve(void *weights, const Apply &apply);
  /// Empty unless they are kept.
  const std::vector<Record> &records() const { return record; }
  /// Of the server: how many clocks a worker that got weights was ahead of the
  /// slowest, at most.
  int64_t lead() const { return most; }

  mlc_counters counters() const;
  /// See Progress::abort.
  void abort(Communicator &world, int code) { progress.abort(world, code); }

private:
  /// What the server has of a worker, or a worker of itself.
  struct Line {
    std::unique_ptr<Communicator> pair; // with the server
    std::unique_ptr<char[]> gradient, reply;
    int64_t pushed = 0, pulled = 0;
    Progress::Ticket coming = 0, going = 0;
  };

  StaleServer(const Options &options, bool server)
      : options(options), server(server) {}
  void startPush(Line &line);
  Status takePush(size_t worker, void *weights, const Apply &apply);
  Status answer(const void *weights);
  void transfer(Line &line, Transfer::Kind kind, void *data,
                Progress::Ticket &ticket);
  size_t bytes() const {
    return options.elements * mlc_dtype_size(options.type);
  }
  int64_t slowest() const;

  Options options;
  bool server;
  std::vector<Line> lines; // all workers', or this one's alone has a pair
  size_t own = 0;
  std::vector<Record> record;
  int64_t most = 0;
  Progress progress; // ends before the pairs
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_STALESERVER_H
