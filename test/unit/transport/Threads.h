//===- Threads.h - Ranks that are threads -----------------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_TRANSPORT_THREADS_H
#define MLC_TEST_UNIT_TRANSPORT_THREADS_H

#include "runtime/transport/Communicator.h"
#include "runtime/transport/Engine.h"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mlc::runtime::transport {

/// Runs `body` on a thread for each rank; what each returns.
inline std::vector<Status>
onRanks(int ranks, const Communicator::Options &options,
        const std::function<Status(Communicator &, int)> &body) {
  InprocHub hub(ranks);
  std::vector<Status> results(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      hub.makeCurrent();
      std::unique_ptr<Communicator> communicator;
      results[rank] = Communicator::open(inprocEngine(), rank, ranks, options,
                                         communicator);
      if (results[rank].ok())
        results[rank] = body(*communicator, rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

/// What an engine may use after an error until the process ends, and who looks
/// for leaks finds here.
template <typename T> T *keep(std::unique_ptr<T> object) {
  static std::mutex mutex;
  static auto &kept = *new std::vector<T *>;
  std::lock_guard<std::mutex> lock(mutex);
  kept.push_back(object.get());
  return object.release();
}

inline void requireOk(const std::vector<Status> &results) {
  for (const Status &status : results) {
    INFO(status.message);
    REQUIRE(status.ok());
  }
}

} // namespace mlc::runtime::transport

#endif // MLC_TEST_UNIT_TRANSPORT_THREADS_H
