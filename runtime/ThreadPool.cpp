//===- ThreadPool.cpp - Fork and join in a fraction of a microsecond ------===//

#include "runtime/ThreadPool.h"
#include "runtime/Cpu.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

namespace mlc::runtime {

namespace {

constexpr uint64_t openBit = uint64_t(1) << 31;
constexpr uint64_t insideMask = openBit - 1;
/// How long a worker spins for the next loop before it sleeps: longer than the
/// gap between the steps of a program, short compared with that between runs.
constexpr std::chrono::microseconds spinTime(200);

} // namespace

FloatEnvironment::FloatEnvironment(bool flushDenormals) : saved(_mm_getcsr()) {
  // All exceptions masked, round to nearest; FTZ is bit 15, DAZ bit 6.
  _mm_setcsr(0x1f80 | (flushDenormals ? 0x8040 : 0));
}
FloatEnvironment::~FloatEnvironment() { _mm_setcsr(saved); }

ThreadPool::ThreadPool(unsigned threads, bool flushDenormals)
    : shares(new Share[std::max(threads, 1u)]) {
  // Spinning helps only when every thread has a core.
  spin = threads <= usableCores();
  // Block signals here: they belong to the user's threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  try {
    for (unsigned t = 1; t < threads; ++t)
      workers.emplace_back(
          [this, t, flushDenormals] { workerLoop(t, flushDenormals); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    stopping = true;
    ++ticket;
    wake();
    for (std::thread &worker : workers)
      worker.join();
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

ThreadPool::~ThreadPool() {
  stopping = true;
  ++ticket;
  wake();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::wake() {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&ticket), FUTEX_WAKE_PRIVATE,
          INT_MAX, nullptr, nullptr, 0);
}

void ThreadPool::sleep(uint32_t seen) {
  // run() changes the ticket before it looks at `sleepers`, so either it sees
  // this thread or the futex sees the new ticket.
  ++sleepers;
  while (ticket.load() == seen)
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&ticket),
            FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  --sleepers;
}

bool ThreadPool::enter() {
  uint64_t now = state.load(std::memory_order_relaxed);
  while (now & openBit)
    if (state.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed))
      return true;
  return false;
}

void ThreadPool::work(unsigned thread) {
  for (unsigned i = 0; i < active; ++i) {
    Share &share =
        shares[thread + i < active ? thread + i : thread + i - active];
    // A quarter of what is left: pieces shrink towards the end.
    int64_t begin = share.next.load(std::memory_order_relaxed);
    while (begin < share.end) {
      int64_t end = begin + (share.end - begin + 3) / 4;
      if (!share.next.compare_exchange_weak(begin, end,
                                            std::memory_order_relaxed))
        continue;
      fn(context, thread, begin, end);
      begin = share.next.load(std::memory_order_relaxed);
    }
  }
}

void ThreadPool::workerLoop(unsigned thread, bool flushDenormals) {
  FloatEnvironment environment(flushDenormals);
  uint32_t seen = 0;
  while (!stopping.load(std::memory_order_relaxed)) {
    uint32_t now = ticket.load(std::memory_order_acquire);
    if (now == seen) {
      auto start = std::chrono::steady_clock::now();
      for (unsigned i = 1; spin && (now = ticket.load()) == seen; ++i) {
        _mm_pause();
        if (i % 64 == 0 && std::chrono::steady_clock::now() - start > spinTime)
          break;
      }
      if (now == seen)
        sleep(seen);
      continue;
    }
    seen = now;
    if (!enter())
      continue;
    if (thread < active)
      work(thread);
    state.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::run(int64_t tasks, unsigned threads, Fn function,
                     void *argument) {
  if (tasks <= 0)
    return;
  threads = std::min(threads, size());
  if (int64_t(threads) > tasks)
    threads = tasks;
  if (threads <= 1) {
    function(argument, 0, 0, tasks);
    return;
  }
  fn = function;
  context = argument;
  active = threads;
  int64_t share = tasks / threads, begin = 0;
  for (unsigned t = 0; t < threads; ++t) {
    int64_t end = begin + share + (t < tasks % threads);
    shares[t].next.store(begin, std::memory_order_relaxed);
    shares[t].end = end;
    begin = end;
  }
  uint64_t number = (state.load(std::memory_order_relaxed) >> 32) + 1;
  state.store(number << 32 | openBit, std::memory_order_release);
  ticket.fetch_add(1); // sequentially consistent: see sleep()
  if (sleepers.load() != 0)
    wake();
  work(0);
  state.fetch_and(~openBit, std::memory_order_relaxed);
  for (unsigned i = 1; state.load(std::memory_order_acquire) & insideMask;
       ++i) {
    _mm_pause();
    if (i % 1024 == 0)
      sched_yield();
  }
}

} // namespace mlc::runtime
