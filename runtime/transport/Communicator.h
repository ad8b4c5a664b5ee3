//===- Communicator.h - Collectives over an engine --------------*- C++ -*-===//
//
// A rank's end: carries out programs of sends and receives, or starts the
// engine's own all-reduce, and never waits longer than the timeout.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H
#define MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H

#include "runtime/transport/Schedule.h"
#include "runtime/transport/Watch.h"
#include "runtime/transport/Watchdog.h"

#include <csignal>
#include <memory>

namespace mlc::runtime::transport {

class Communicator {
public:
  struct Options {
    /// Of waiting without progress.
    std::chrono::nanoseconds timeout = std::chrono::minutes(5);
    /// Longer transfers are several messages, so that sums overlap with them.
    int64_t messageBytes = 1 << 20;
    /// Set by a signal's handler: give up.
    const volatile std::sig_atomic_t *interrupted = nullptr;
    /// Ends the process if the engine does not return.
    Watchdog *watchdog = nullptr;
  };

  /// Joins the others. `world` is what the launcher said; an error if the
  /// engine knows otherwise.
  static Status open(const mlc_engine &engine, mlc_world world,
                     const Options &options,
                     std::unique_ptr<Communicator> &result);
  /// Leaves; aborts if a collective has failed.
  ~Communicator();

  int rank() const { return engine.rank(comm); }
  int size() const { return engine.size(comm); }
  mlc_counters counters() const;

  /// Carries out this rank's program; `request.ranks` is size(). After an error
  /// `data` may be written to until abort() or the end.
  Status run(const Request &request, mlc_dtype type, void *data);
  /// The same of a program of sends and receives that the caller has made, and
  /// that fits those of the others; `name` is alike on all ranks.
  Status run(const std::string &name, const Program &program, mlc_dtype type,
             void *data);
  /// The engine's own all-reduce.
  Status runOwn(int64_t elements, mlc_dtype type, void *data);

  /// Waits for all ranks to have come here, so that none leaves one behind that
  /// hangs as it ends.
  Status finish();

  /// After an error that has been told: ends all ranks, those that hang too.
  /// Other ranks get two seconds to tell theirs. May end the process.
  void abort(int code);

private:
  struct Piece {
    mlc_request *request;
    int64_t offset, length; // elements, within the transfer
  };
  struct Lane;

  Communicator(const mlc_engine &engine, mlc_comm *comm,
               const Options &options);
  Status runOwn(const std::string &name, int64_t elements, mlc_dtype type,
                void *data);
  Status runProgram(const Program &program, mlc_dtype type, void *data);
  Status runStep(const Step &step, mlc_dtype type);
  Status begin(Lane &lane, size_t index, mlc_dtype type);
  Status poll(Lane &lane, size_t index, mlc_dtype type, int64_t nanoseconds,
              bool &moved);
  Status runLocal(const LocalStep &local, mlc_dtype type);
  Status check();
  void enter(const std::string &name);
  Status leave(Status status);
  void guard(std::chrono::nanoseconds time);
  Status engineError(mlc_status code);
  char *memory(const Range &range, mlc_dtype type) const;
  char *staging(size_t lane, int64_t piece) const;
  Status reserve(const Program &program, mlc_dtype type);

  const mlc_engine &engine;
  mlc_comm *comm;
  Options options;
  Watch watch;
  bool failed = false;
  // Kept from one collective to the next.
  std::unique_ptr<char[]> scratch, stage;
  int64_t scratchBytes = 0, stageBytes = 0;
  char *data = nullptr;
  std::vector<Lane> lanes;
  std::vector<int> awaited;
};

/// "all-reduce ring of 7 f32", by which ranks compare what they do.
std::string describe(const Request &request, mlc_dtype type);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H
