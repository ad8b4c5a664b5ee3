//===- Progress.h - Collectives that overlap the caller ---------*- C++ -*-===//
//
// One thread for all communicators of a process, since only one thread may use
// the groups of an engine, and ranks start collectives of different groups in
// different orders. Each group has a queue. The first task of every queue is
// under way, and the thread advances them in turn, so that a group with late
// ranks does not block the others. Hence no order among groups deadlocks, as
// long as each group has the same order on all its ranks.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_PROGRESS_H
#define MLC_RUNTIME_TRANSPORT_PROGRESS_H

#include "runtime/transport/Communicator.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

namespace mlc::runtime::transport {

class Progress {
public:
  /// Identifies a started collective.
  using Ticket = uint64_t;

  /// One collective of a group, or several in sequence. The thread begins it
  /// and advances it until it is done or has failed.
  class Work {
  public:
    virtual ~Work() = default;
    virtual Status begin(Communicator &group) = 0;
    /// As Communicator::advance.
    virtual Status advance(Communicator &group, int64_t nanoseconds,
                           bool &done);
    /// Whether the engine has all of it.
    virtual bool isLaunched(const Communicator &group) const {
      return group.isLaunched();
    }
  };

  enum class Order : uint8_t {
    /// The order among groups may differ between ranks.
    OfEachGroup,
    /// All ranks start all collectives in one order and launch them in it: for
    /// stepwise engines, where different orders could deadlock on a GPU.
    OfAll
  };

  explicit Progress(Order order = Order::OfEachGroup);
  /// Waits for all started collectives, unless one has failed.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Starts a collective after those already started on `group`, which must not
  /// be used otherwise until all are done. The collective owns `data` until
  /// wait() or isDone(). Any thread may call these functions.
  Ticket start(Communicator &group, const Request &request, mlc_dtype type,
               void *data);
  /// A program of the caller's own, see Communicator::run.
  Ticket start(Communicator &group, const std::string &name, Program program,
               mlc_dtype type, void *data);
  /// The thread owns `work` until wait() or isDone().
  Ticket start(Communicator &group, Work &work);

  /// Waits until it is done. After one fails, all unfinished and later ones
  /// return its error: end all ranks with abort().
  Status wait(Ticket ticket);
  /// Waits until the engine has all of it, or it is done.
  Status waitUntilLaunched(Ticket ticket);
  bool isDone(Ticket ticket);
  /// Waits until one of `tickets` is done, the `which`-th.
  Status waitForOne(const std::vector<Ticket> &tickets, size_t &which);
  /// Waits for all started collectives.
  Status waitForAll();
  bool hasFailed();

  /// Runs `work` on the thread, after everything started on any group and
  /// before anything started later, and waits for it. Its error counts as a
  /// collective's.
  Status call(const std::function<Status()> &work);

  /// As the destructor, but the thread runs `last` at its end, even after a
  /// failure. Nothing may be started afterwards.
  void end(const std::function<void()> &last);
  /// After a reported error: stops all work, then calls Communicator::abort.
  void abort(Communicator &communicator, int code);
  /// Stops advancing all work, as if a collective had failed.
  void giveUp();

private:
  struct Task {
    Ticket ticket;
    Work *work;
    std::unique_ptr<Work> owned; ///< `work`, or null
    bool begun = false;
  };
  struct Queue {
    Communicator *group;
    std::deque<Task> tasks;
  };
  struct Call {
    Ticket ticket;
    const std::function<Status()> *work;
  };
  Ticket add(Communicator &group, Work &work, std::unique_ptr<Work> owned);
  void run();
  void turn(std::unique_lock<std::mutex> &lock);
  void advanceOne(std::unique_lock<std::mutex> &lock);
  bool canGoOn(const Queue &queue) const;
  void fail(Status status);
  bool over(Ticket ticket) const;
  Status resultOf(Ticket ticket) const;

  const Order order;
  std::mutex mutex;
  std::condition_variable changed, done;
  bool stopping = false;
  std::function<void()> last;
  Status failure;
  Ticket next = 1;
  /// Elements do not move, so the thread uses one without the lock; only it
  /// removes tasks.
  std::deque<Queue> queues;
  std::deque<Call> calls;
  std::set<Ticket> open;       // not done, including calls
  std::set<Ticket> unlaunched; // of these, not launched
  // Used by the thread: whose turn it was, and whether that made progress.
  size_t whose = 0;
  bool moved = true;
  std::thread thread;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_PROGRESS_H
