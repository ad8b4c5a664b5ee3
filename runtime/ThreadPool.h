//===- ThreadPool.h - Fork and join in under a microsecond ------*- C++ -*-===//
//
// A fixed set of threads for loops of independent tasks. Workers spin for a
// short while after each loop, then sleep. Each thread first takes pieces of
// its own share, then of the others', a quarter of the rest at a time: few
// pieces, and small ones at the end, where threads wait for each other. The
// caller never waits for a worker that has not begun; other threads take a late
// worker's share.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_THREADPOOL_H
#define MLC_RUNTIME_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace mlc::runtime {

/// The most threads of a session.
constexpr unsigned maxThreads = 1024;

class ThreadPool {
public:
  /// `threads` counts the caller of run(). With `flushDenormals` the workers
  /// treat denormals as zero. May throw std::system_error or bad_alloc.
  explicit ThreadPool(unsigned threads, bool flushDenormals = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned size() const { return workers.size() + 1; }

  /// Called for disjoint ranges that cover [0, tasks); `thread` is below
  /// size() and names the executing thread for the time of run(). Must not
  /// throw.
  using Fn = void (*)(void *context, unsigned thread, int64_t begin,
                      int64_t end);

  /// Runs all tasks on at most `threads` threads and returns when they are
  /// done. Not reentrant; one caller at a time.
  void run(int64_t tasks, unsigned threads, Fn fn, void *context);

private:
  /// One thread's share of the loop; `next` moves on as pieces are taken.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  void workerLoop(unsigned thread, bool flushDenormals);
  bool enter();
  void work(unsigned thread);
  void sleep(uint32_t seen);
  void wake();

  // The current loop. The caller writes it while no worker is inside.
  Fn fn = nullptr;
  void *context = nullptr;
  unsigned active = 0;
  std::unique_ptr<Share[]> shares;

  /// Number of the loop (high half), whether workers may still enter (bit 31)
  /// and how many are inside.
  alignas(64) std::atomic<uint64_t> state{0};
  /// Changes with each loop; workers watch it and sleep on it.
  alignas(64) std::atomic<uint32_t> ticket{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  bool spin = true;
  std::vector<std::thread> workers;
};

/// Sets the floating-point control of the calling thread to the IEEE defaults,
/// with denormals flushed if asked; restores the former one at the end.
class FloatEnvironment {
public:
  explicit FloatEnvironment(bool flushDenormals);
  ~FloatEnvironment();

private:
  unsigned saved;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_THREADPOOL_H
