//===- Heartbeat.h - Notices of the ranks of one machine --------*- C++ -*-===//
//
// A cell of shared memory for each rank, which only that rank writes and all
// read without waiting: a stopped or dead rank blocks no other.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_HEARTBEAT_H
#define MLC_RUNTIME_TRANSPORT_HEARTBEAT_H

#include "runtime/transport/mlc_engine.h"

#include <atomic>
#include <cstring>

namespace mlc::runtime::transport {

/// A cell of zero bytes has nothing published.
class HeartbeatCell {
public:
  void write(const mlc_notice &notice) {
    uint64_t words[count] = {};
    std::memcpy(words, &notice, sizeof(notice));
    const uint64_t next = sequence.load(std::memory_order_relaxed) + 1;
    sequence.store(next, std::memory_order_relaxed); // odd: being written
    std::atomic_thread_fence(std::memory_order_release);
    for (size_t i = 0; i < count; ++i)
      cell[i].store(words[i], std::memory_order_relaxed);
    sequence.store(next + 1, std::memory_order_release);
  }

  /// False if every attempt met an unfinished write: the writer may have
  /// stopped in it.
  bool read(mlc_notice &notice) const {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const uint64_t before = sequence.load(std::memory_order_acquire);
      uint64_t words[count];
      for (size_t i = 0; i < count; ++i)
        words[i] = cell[i].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 || sequence.load(std::memory_order_relaxed) != before)
        continue;
      std::memcpy(&notice, words, sizeof(notice));
      return true;
    }
    return false;
  }

private:
  static constexpr size_t count = (sizeof(mlc_notice) + 7) / 8;
  static_assert(std::atomic<uint64_t>::is_always_lock_free);
  std::atomic<uint64_t> sequence{0};
  std::atomic<uint64_t> cell[count] = {};
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_HEARTBEAT_H
