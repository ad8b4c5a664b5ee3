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
#include <mutex>
#include <set>
#include <thread>

namespace mlc::runtime::transport {

class Progress {
public:
  /// Of a collective that has been started.
  using Ticket = uint64_t;

  Progress();
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

  /// Waits until it is done. After one has failed, that one's error for all
  /// that is waited for: end all ranks by abort().
  Status wait(Ticket ticket);
  bool isDone(Ticket ticket);
  /// Waits until one of `tickets` is done, the `which`-th.
  Status waitForOne(const std::vector<Ticket> &tickets, size_t &which);
  /// Waits for all that has been started.
  Status waitForAll();

  /// After an error that has been told: Communicator::abort, with nothing under
  /// way any more.
  void abort(Communicator &communicator, int code);

private:
  struct Task {
    Ticket ticket;
    std::string name; // of a program; empty: a request
    Request request;
    Program program;
    mlc_dtype type;
    void *data;
    bool begun = false;
  };
  struct Queue {
    Communicator *group;
    std::deque<Task> tasks;
  };
  Ticket add(Communicator &group, Task task);
  void run();
  void stop();
  static Status advance(Communicator &group, Task &task, int64_t nanoseconds,
                        bool &done);
  bool over(Ticket ticket) const;

  std::mutex mutex;
  std::condition_variable changed, done;
  bool stopping = false;
  Status failure;
  Ticket next = 1;
  /// Elements stay where they are, so that the thread uses one without the
  /// lock; only it takes tasks away.
  std::deque<Queue> queues;
  std::set<Ticket> open; // those that are not done
  std::thread thread;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_PROGRESS_H
