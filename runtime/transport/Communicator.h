//===- Communicator.h - Collectives over an engine --------------*- C++ -*-===//
//
// A rank's end of all ranks or of a group of them: carries out programs of
// sends and receives, or the engine's own collectives, and never waits longer
// than the timeout.
//
// One collective of a communicator is under way at a time. Communicators of one
// engine (all ranks', and the groups split from it) may each have one; they are
// used by one thread at a time, which lets them advance in turn (Progress.h).
// Collectives of one group come in the same order on all its ranks; those of
// different groups in any.
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
    /// Of waiting without progress.
    std::chrono::nanoseconds timeout = std::chrono::minutes(5);
    /// Longer transfers are several messages, so that sums overlap with them;
    /// not of an engine that is stepwise.
    int64_t messageBytes = 1 << 20;
    /// Set by a signal's handler: give up.
    const volatile std::sig_atomic_t *interrupted = nullptr;
    /// Ends the process if the engine does not return.
    Watchdog *watchdog = nullptr;
    /// In whose memory collectives may be, of an engine that works there; -1:
    /// of no GPU.
    int device = -1;
    /// Slows the engine down; what it leaves out, the environment may say.
    Link link = {};
  };

  /// Joins the others. `rank` and `size` are what the launcher said, -1 where
  /// it said nothing; an error if the engine knows otherwise.
  static Status open(const mlc_engine &engine, int rank, int size,
                     const Options &options,
                     std::unique_ptr<Communicator> &result);
  /// Makes groups of the ranks, which all call this together: those that give
  /// the same color are one, in the same order; -1: in none, `group` is null
  /// then. `name` is for messages, alike on all ranks. Groups end before what
  /// they were split from. Several groups of the same ranks are several colors
  /// or calls (round-robin groups).
  Status split(int color, const std::string &name,
               std::unique_ptr<Communicator> &group);
  /// Leaves; aborts if a collective has failed. A group in which one has failed
  /// stays with the engine until all ranks end: tell the error, then abort().
  ~Communicator();

  int rank() const { return engine.rank(comm); }
  int size() const { return engine.size(comm); }
  mlc_counters counters() const;

  /// Which of all ranks this is.
  int worldRank() const { return watch.among(rank()); }
  const mlc_engine &table() const { return engine; }

  /// Carries out a collective, in place; `request.ranks` is size(). After an
  /// error `data` may be written to until abort() or the end.
  Status run(const Request &request, mlc_dtype type, void *data);
  /// A program of the caller's own. All ranks give the same name, by which they
  /// see that they do the same; Check.h tells whether the programs fit.
  Status run(const std::string &name, Program program, mlc_dtype type,
             void *data);

  /// The same in pieces: begins, and is to be advanced until it is done or has
  /// failed. advance() waits for `nanoseconds` at most.
  Status begin(const Request &request, mlc_dtype type, void *data);
  Status begin(const std::string &name, Program program, mlc_dtype type,
               void *data);
  Status advance(int64_t nanoseconds, bool &done);

  /// One of the engine's own (Algorithm::Own) in the memory of Options::device;
  /// what lies where says mlc_on_device.
  struct DeviceMessage {
    Request request;
    const void *input;
    void *output;
  };
  /// What DeviceMessage has for a collective in place, as run() has it.
  DeviceMessage inPlace(const Request &request, mlc_dtype type,
                        void *data) const;
  /// All of them as one collective. They begin when the CUevent `ready` has
  /// happened, and `done` is recorded behind the last; both may be null. Until
  /// `ready` has happened this rank has not come, as others see it.
  Status begin(std::vector<DeviceMessage> messages, mlc_dtype type, void *ready,
               void *done);
  Status run(std::vector<DeviceMessage> messages, mlc_dtype type);
  /// Whether the engine has got all of what is under way, which then depends on
  /// this rank's streams alone; for what is on a GPU: `done` has been recorded.
  /// Programs of several steps are not before they are done.
  bool isLaunched() const { return launched; }
  /// How long advance() may wait, where nothing else is under way.
  int64_t patience() const;

  /// What is under way will not be advanced any more, because of `failure`:
  /// tells the others, and has streams that wait for it go on.
  void giveUp(const Status &failure);
  /// Whether the last advance() found that something had come or gone.
  bool hasMoved() const { return moved; }

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
  // What is under way: a program, at a step, or the engine's own.
  Program program;
  size_t step = 0;
  bool inStep = false, moved = false;
  mlc_request *own = nullptr;
  // In a GPU's memory: all of them, of which `own` is the first that is not
  // done.
  std::deque<mlc_request *> owns;
  bool onDevice = false, entered = false, launched = false;
  std::string deviceName; // of the collective
  mlc_dtype type = MLC_F32;
  char *data = nullptr;
  std::vector<Lane> lanes;
  int64_t laneBytes = 0; // of staging, for one message
  std::vector<int> awaited;
};

/// "all-reduce ring of 7 f32", by which ranks compare what they do.
std::string describe(const Request &request, mlc_dtype type);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_COMMUNICATOR_H
