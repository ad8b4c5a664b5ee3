//===- Communicator.h - Collectives over an engine --------------*- C++ -*-===//
//
// A rank's end of all ranks or of a group. Carries out programs of sends and
// receives, or the engine's own collectives, and never waits longer than the
// timeout.
//
// One collective of a communicator is under way at a time. Communicators of one
// engine (that of all ranks, and the groups split from it) may each have one.
// One thread at a time uses them and advances them in turn (Progress.h). All
// ranks of a group start its collectives in the same order; the order among
// groups is free.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H
#define MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H

#include "runtime/transport/Schedule.h"
#include "runtime/transport/Throttle.h"
#include "runtime/transport/Watch.h"
#include "runtime/transport/Watchdog.h"

#include <csignal>
#include <deque>
#include <memory>

namespace mlc::runtime::transport {

class Communicator {
public:
  struct Options {
    /// The longest wait without progress.
    std::chrono::nanoseconds timeout = std::chrono::minutes(5);
    /// Longer transfers become several messages, so that sums overlap with
    /// them, except on a stepwise engine.
    int64_t messageBytes = 1 << 20;
    /// Set by a signal handler to give up.
    const volatile std::sig_atomic_t *interrupted = nullptr;
    /// Ends the process if the engine does not return.
    Watchdog *watchdog = nullptr;
    /// The GPU in whose memory collectives may be, if the engine supports that;
    /// -1: none.
    int device = -1;
    /// Slows the engine down; the environment may set missing values.
    Link link = {};
  };

  /// Joins the others. `rank` and `size` are the launcher's, -1 if unknown; an
  /// error if the engine's differ.
  static Status open(const mlc_engine &engine, int rank, int size,
                     const Options &options,
                     std::unique_ptr<Communicator> &result);
  /// Makes groups of the ranks, which all call this together. Ranks of the same
  /// color form one, in the same order; for color -1 `group` is null. `name` is
  /// for messages, the same on all ranks. Groups must end before their parent.
  /// Several groups of the same ranks (round-robin groups) need several calls.
  Status split(int color, const std::string &name,
               std::unique_ptr<Communicator> &group);
  /// Leaves; aborts if a collective has failed. A group with a failed
  /// collective stays with the engine until all ranks end: report the error,
  /// then abort().
  ~Communicator();

  int rank() const { return engine.rank(comm); }
  int size() const { return engine.size(comm); }
  mlc_counters counters() const;

  /// This rank among all ranks.
  int worldRank() const { return watch.among(rank()); }
  const mlc_engine &table() const { return engine; }

  /// Carries out a collective, in place; `request.ranks` is size(). After an
  /// error `data` may still be written to until abort() or the end.
  Status run(const Request &request, mlc_dtype type, void *data);
  /// Runs the caller's own program. All ranks give the same name, by which they
  /// check that they do the same; Check.h checks that the programs fit.
  Status run(const std::string &name, Program program, mlc_dtype type,
             void *data);

  /// The same in pieces: begins it; then call advance() until it is done or has
  /// failed. advance() waits for at most `nanoseconds`.
  Status begin(const Request &request, mlc_dtype type, void *data);
  Status begin(const std::string &name, Program program, mlc_dtype type,
               void *data);
  Status advance(int64_t nanoseconds, bool &done);

  /// One of the engine's own (Algorithm::Own) in the memory of Options::device,
  /// laid out as in mlc_on_device.
  struct DeviceMessage {
    Request request;
    const void *input;
    void *output;
  };
  /// The DeviceMessage of an in-place collective, as in run().
  DeviceMessage inPlace(const Request &request, mlc_dtype type,
                        void *data) const;
  /// Begins all of them as one collective, after the CUevent `ready`; `done` is
  /// recorded after the last. Both may be null. To other ranks, this one has
  /// not arrived until `ready` has happened.
  Status begin(std::vector<DeviceMessage> messages, mlc_dtype type, void *ready,
               void *done);
  Status run(std::vector<DeviceMessage> messages, mlc_dtype type);
  /// Whether the engine has all of the current collective, which then depends
  /// on this rank's streams alone; on a GPU, whether `done` has been recorded.
  /// A program of several steps is launched only once it is done.
  bool isLaunched() const { return launched; }
  /// How long advance() may wait if nothing else is under way.
  int64_t patience() const;

  /// Gives up the current collective because of `failure`: tells the other
  /// ranks and releases streams that wait for it.
  void giveUp(const Status &failure);
  /// Whether a message arrived or left in the last advance().
  bool hasMoved() const { return moved; }

  /// Waits until all ranks call it, so that no rank hangs because another has
  /// ended.
  Status finish();

  /// Ends all ranks, even those that hang, after an error was reported. Other
  /// ranks get two seconds to report theirs. May end the process.
  void abort(int code);

private:
  struct Piece {
    mlc_request *request;
    int64_t offset, length; // elements, within the transfer
  };
  struct Lane;

  Communicator(const mlc_engine &engine, mlc_comm *comm, const Options &options,
               std::string group = "", std::vector<int> ranks = {});
  Status beginOwn(const std::string &name, const Request &request,
                  mlc_dtype type, void *data);
  mlc_status startOwn(const Request &request, mlc_dtype type, void *data,
                      const mlc_on_device *there);
  Status advanceOnDevice(int64_t nanoseconds, bool &done);
  void cancel(const Status &failure);
  Status complete(bool &done);
  Status advanceOwn(int64_t nanoseconds, bool &done);
  Status advanceProgram(int64_t nanoseconds, bool &done);
  void forgetProgram();
  Status startStep();
  Status endStep();
  Status pollLanes(int64_t nanoseconds, bool &all);
  Status begin(Lane &lane, size_t index);
  Status poll(Lane &lane, size_t index, int64_t nanoseconds);
  Status runLocal(const LocalStep &local);
  Status check();
  void enter(const std::string &name);
  Status leave(Status status);
  void guard(std::chrono::nanoseconds time);
  Status engineError(mlc_status code);
  char *memory(const Range &range) const;
  char *staging(size_t lane, int64_t piece) const;
  Status reserve();
  int64_t messageElements() const;

  const mlc_engine &engine;
  mlc_comm *comm;
  Options options;
  Watch watch;
  std::shared_ptr<Watch::Family> family;
  bool isGroup = false;
  // Kept from one collective to the next.
  std::unique_ptr<char[]> scratch, stage;
  int64_t scratchBytes = 0, stageBytes = 0;
  // The current collective: a program, at a step, or the engine's own.
  Program program;
  size_t step = 0;
  bool inStep = false, moved = false;
  mlc_request *own = nullptr;
  // In a GPU's memory: all requests; `own` is the first that is not done.
  std::deque<mlc_request *> owns;
  bool onDevice = false, entered = false, launched = false;
  std::string deviceName; // of the collective
  mlc_dtype type = MLC_F32;
  char *data = nullptr;
  std::vector<Lane> lanes;
  int64_t laneBytes = 0; // staging bytes of one message
  std::vector<int> awaited;
};

/// "all-reduce ring of 7 f32": ranks compare this text to detect mismatches.
std::string describe(const Request &request, mlc_dtype type);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H
