//===- Progress.h - Collectives that go on beside the caller ----*- C++ -*-===//
//
// One thread for all communicators of a process: the groups of an engine may be
// used by one thread only, and each rank starts collectives of different groups
// in an order of its own. Each group has a queue. The first of every queue is
// under way, and the thread advances them in turn, so that a group whose other
// ranks are late holds no other group up. So no order among groups can come to
// a deadlock, as long as each group has the same order on all its ranks.
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
  /// Of a collective that has been started.
  using Ticket = uint64_t;

  /// A collective, or several of a group one after another. The thread begins
  /// it, and advances it until it is done or has failed.
  class Work {
  public:
    virtual ~Work() = default;
    virtual Status begin(Communicator &group) = 0;
    /// As Communicator::advance.
    virtual Status advance(Communicator &group, int64_t nanoseconds,
                           bool &done);
    /// Whether the engine has got all of it.
    virtual bool isLaunched(const Communicator &group) const {
      return group.isLaunched();
    }
  };

  enum class Order : uint8_t {
    /// Each rank may start those of different groups in an order of its own.
    OfEachGroup,
    /// All ranks start all in one order, in which the engine gets them: one
    /// begins when all before are launched, for an engine (stepwise) of which
    /// orders that differ might wait for each other on a GPU.
    OfAll
  };

  explicit Progress(Order order = Order::OfEachGroup);
  /// Waits for what has been started, unless a collective has failed.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Behind what has been started on `group`, which nobody else uses until all
  /// of that is done. `data` is the collective's until wait() or isDone(). Any
  /// thread may call these functions.
  Ticket start(Communicator &group, const Request &request, mlc_dtype type,
               void *data);
  /// A program of the caller's own, see Communicator::run.
  Ticket start(Communicator &group, const std::string &name, Program program,
               mlc_dtype type, void *data);
  /// `work` is the thread's until wait() or isDone().
  Ticket start(Communicator &group, Work &work);

  /// Waits until it is done. What is not when one has failed, or is started
  /// afterwards, has that one's error: end all ranks by abort().
  Status wait(Ticket ticket);
  /// ... or until the engine has got all of it.
  Status waitUntilLaunched(Ticket ticket);
  bool isDone(Ticket ticket);
  /// Waits until one of `tickets` is done, the `which`-th.
  Status waitForOne(const std::vector<Ticket> &tickets, size_t &which);
  /// Waits for all that has been started.
  Status waitForAll();
  bool hasFailed();

  /// Carries `work` out on the thread, behind all that has been started on any
  /// group and before what is started from now on; waits for it. Its error is
  /// that of a collective.
  Status call(const std::function<Status()> &work);

  /// As the destructor; the thread carries out `last` at its end, even after a
  /// failure. Nothing is started from then on.
  void end(const std::function<void()> &last);
  /// After an error that has been told: Communicator::abort, with nothing under
  /// way any more.
  void abort(Communicator &communicator, int code);
  /// What is under way is not advanced any more, as if one had failed.
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
  /// Elements stay where they are, so that the thread uses one without the
  /// lock; only it takes tasks away.
  std::deque<Queue> queues;
  std::deque<Call> calls;
  std::set<Ticket> open;       // those that are not done, calls among them
  std::set<Ticket> unlaunched; // of these, those that the engine has not got
  // Of the thread: whose turn it was, and whether something had come there.
  size_t whose = 0;
  bool moved = true;
  std::thread thread;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_PROGRESS_H
