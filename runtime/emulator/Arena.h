//===- Arena.h - The memory of an emulated device ---------------*- C++ -*-===//
//
// One address range holds everything that kernels may touch besides their
// stacks: first the shared memory of the running block, then the allocations.
// Two more ranges, at the same offsets, hold for each four bytes a byte of
// marks (which of them exist and are written) and a record of the last accesses
// (Shadow.h). Pages are mapped on first touch.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_ARENA_H
#define MLC_RUNTIME_EMULATOR_ARENA_H

#include "runtime/emulator/Shadow.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace mlc::emulator {

class Arena {
public:
  /// Reserves the addresses for device `number`; false if the system refuses.
  bool open(int number);

  /// Returns a multiple of 256, as CUDA does; zero if memory is exhausted.
  uintptr_t allocate(size_t bytes);
  /// False if nothing starts at `address`.
  bool free(uintptr_t address);
  /// Whether all bytes lie in one allocation.
  bool contains(uintptr_t address, size_t bytes) const;
  /// Describes an address for people: "byte 40 behind an allocation of 40
  /// bytes". For memory of other devices it names the device.
  std::string describe(uintptr_t address) const;
  const std::map<uintptr_t, size_t> &allocations() const { return live; }

  /// Gives a starting block `bytes` of unwritten shared memory, at `offset` of
  /// the addresses of shared memory.
  void resetShared(size_t bytes, bool fill, size_t offset);
  uint8_t *shared() const {
    return reinterpret_cast<uint8_t *>(base + sharedOffset);
  }
  /// The first of these addresses, a multiple of 4096.
  uintptr_t sharedWindow() const { return base; }
  bool isShared(uintptr_t address) const {
    return address - base < sharedRange;
  }

  /// Marks whole bytes as existing and as written.
  void mark(uintptr_t address, size_t bytes, bool exist, bool written);
  /// Copies the marks of the bytes at `from` in `source` to `to`.
  void copyMarks(uintptr_t to, const Arena &source, uintptr_t from,
                 size_t bytes);

  bool has(uintptr_t address) const { return address - base < size; }
  /// Low four bits: written; high four: exist.
  uint8_t &marks(uintptr_t address) const {
    return states[(address - base) / 4];
  }
  Cell &cell(uintptr_t address) const { return cells[(address - base) / 4]; }

private:
  static constexpr size_t sharedRange = 256 << 10;

  std::string describeOwn(uintptr_t address) const;

  int device = 0;

  uintptr_t base = 0;
  size_t size = 0;
  uint8_t *states = nullptr;
  Cell *cells = nullptr;
  size_t sharedBytes = 0, sharedOffset = 0; // of the last block
  std::map<uintptr_t, size_t> live;
};

/// The arena of the device whose kernel runs.
extern Arena *arena;

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_ARENA_H
