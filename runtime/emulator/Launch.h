//===- Launch.h - A kernel and what it is launched with ---------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_LAUNCH_H
#define MLC_RUNTIME_EMULATOR_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mlc::emulator {

class Arena;

struct Index {
  unsigned x, y, z;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// A tensor map as callers keep it (TensorMap.h).
struct alignas(64) MapWords {
  uint64_t words[16];
};

struct Launch {
  std::string name;
  void *function = nullptr;
  uintptr_t moduleBase = 0; ///< places in code are offsets from it
  uintptr_t moduleEnd = 0;
  std::string modulePath;
  /// The parameters; the first ones stand for `maps`, which kernels get by
  /// address.
  std::vector<uint64_t> words;
  std::vector<MapWords> maps;
  Arena *arena = nullptr; ///< of the device that it runs on
  Index grid = {}, block = {};
  unsigned sharedBytes = 0;
  /// Whether its loads and stores are instrumented.
  bool isInstrumented = true;
  /// Whether its threads need an order of their own (Order.h).
  bool isOrdered = false;
  /// Whether it may begin before the launch in front of it has ended.
  bool isDependent = false;
  const void *stream = nullptr;
};

/// The most words of parameters: 4 KiB of them.
constexpr size_t maxWords = 512;

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_LAUNCH_H
