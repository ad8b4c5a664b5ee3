//===- StaleServer.h - A parameter server with bounded staleness -*- C++ -*-==//
//
// The last rank holds the weights. The others, the workers, send it a gradient
// and get weights back, once per clock, each at its own pace. A worker that has
// pushed c gradients gets weights as soon as the slowest has pushed c -
// staleness (Ho et al., More Effective Distributed ML via a Stale Synchronous
// Parallel Parameter Server, 2013): so it reads weights with all its own
// updates and all but the last `staleness` ones of each other worker.
//
// With staleness 0 all gradients of a clock are added in rank order, (g0 + g1)
// + ..., and applied as one: bit for bit the sum of Algorithm::Server, in every
// run. Otherwise each is applied on arrival.
//
// Per clock the ranks send N M bytes to the server, and it sends as many back.
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
  /// Gradients to apply.
  struct Push {
    int worker;      // -1: the sum of all workers' gradients
    int64_t clock;   // the push's number, per worker
    int64_t slowest; // pushes of the slowest worker, including this one
  };
  /// A received push (`slowest` -1), or weights sent back.
  struct Record {
    int worker;
    int64_t clock;   // its pushes so far
    int64_t slowest; // pushes of the slowest worker
  };
  /// Updates the weights with a gradient. An error ends serve().
  using Apply = std::function<Status(void *weights, const void *gradient,
                                     const Push &push)>;

  /// All ranks of `world`, at least two, call it together. While the server
  /// lives, `world` must not be used otherwise.
  static Status open(Communicator &world, const Options &options,
                     std::unique_ptr<StaleServer> &result);

  bool isServer() const { return server; }
  int workers() const { return static_cast<int>(lines.size()); }

  /// A worker's clock: push() begins to send a gradient, pull() waits until it
  /// is sent and the weights have arrived. The caller owns both, and they may
  /// be the same memory. After an error they may be written to until abort().
  void push(const void *gradient);
  Status pull(void *weights);

  /// Runs the server for all clocks of all workers.
  Status serve(void *weights, const Apply &apply);
  /// The records; empty unless kept.
  const std::vector<Record> &records() const { return record; }
  /// On the server: the most clocks that a worker was ahead of the slowest when
  /// it got weights.
  int64_t lead() const { return most; }

  mlc_counters counters() const;
  /// See Progress::abort.
  void abort(Communicator &world, int code) { progress.abort(world, code); }

private:
  /// The server's data of a worker, or a worker's of itself.
  struct Line {
    std::unique_ptr<Communicator> pair; // worker and server
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
  std::vector<Line> lines; // on a worker only its own has a pair
  size_t own = 0;
  std::vector<Record> record;
  int64_t most = 0;
  Progress progress; // must end before the pairs
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_STALESERVER_H
