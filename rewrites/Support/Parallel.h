//===- Parallel.h - The same work on several threads ------------*- C++ -*-===//

#ifndef MLC_REWRITES_SUPPORT_PARALLEL_H
#define MLC_REWRITES_SUPPORT_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <thread>
#include <vector>

namespace mlc {

/// Calls work(i, thread) for every i in [0, count), on `jobs` threads in no
/// fixed order: each call must write its result to its own slot.
inline void forEach(size_t count, unsigned jobs,
                    llvm::function_ref<void(size_t, unsigned)> work) {
  std::atomic<size_t> next = 0;
  auto run = [&](unsigned thread) {
    for (size_t i; (i = next++) < count;)
      work(i, thread);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < jobs && t < count; ++t)
    threads.emplace_back(run, t);
  run(0);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace mlc

#endif // MLC_REWRITES_SUPPORT_PARALLEL_H
