//===- AsyncRun.h - A run on a thread of its own ----------------*- C++ -*-===//

#ifndef MLC_RUNTIME_ASYNCRUN_H
#define MLC_RUNTIME_ASYNCRUN_H

#include "runtime/Status.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mlc::runtime {

class Session;

/// Runs a session on a thread, which it starts with the first run and keeps.
/// One thread at a time uses it, except for isRunning().
class AsyncRun {
public:
  AsyncRun() = default;
  /// Waits for the run under way.
  ~AsyncRun();

  /// Begins a run; none may be under way. May throw std::system_error.
  void start(Session &session);
  /// Waits for the pending run and returns its status; success if none is
  /// pending.
  Status wait();
  /// Whether a run was started and not yet waited for.
  bool isPending() const { return pending; }
  /// Whether wait() would wait.
  bool isRunning() const { return running.load(std::memory_order_acquire); }

private:
  void loop();

  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
  Session *session = nullptr; ///< to be run
  bool stopping = false;
  bool pending = false;
  std::atomic<bool> running{false};
  Status result;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_ASYNCRUN_H
