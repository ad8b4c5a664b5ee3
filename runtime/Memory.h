//===- Memory.h - Owned memory and mapped files -----------------*- C++ -*-===//

#ifndef MLC_RUNTIME_MEMORY_H
#define MLC_RUNTIME_MEMORY_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace mlc::runtime {

/// Maps at least `bytes` of page-aligned memory, with large pages for large
/// sizes. Sets `capacity` to the real size.
Status mapPages(uint64_t bytes, void *&memory, uint64_t &capacity);
/// Unmaps memory of mapPages().
void unmapPages(void *memory, uint64_t capacity);

/// A block of such memory.
class Memory {
public:
  Memory() = default;
  ~Memory();
  Memory(Memory &&other) noexcept;
  Memory &operator=(Memory &&other) noexcept;

  /// Makes room for `bytes` at least; the contents are lost if the block must
  /// grow. `grown` tells whether it did.
  Status reserve(uint64_t bytes, bool &grown);
  uint8_t *data() const { return base; }
  uint64_t capacity() const { return size; }

private:
  uint8_t *base = nullptr;
  uint64_t size = 0;
};

/// A file mapped for reading.
class Mapping {
public:
  Mapping() = default;
  ~Mapping();
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  Status open(const char *path);
  const uint8_t *data() const { return base; }
  size_t size() const { return length; }

private:
  const uint8_t *base = nullptr;
  size_t length = 0;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_MEMORY_H
