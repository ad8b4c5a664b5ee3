//===- Arena.h - The memory of an emulated device ---------------*- C++ -*-===//
//
// One range of addresses holds all that kernels may touch beside their stacks:
// first the shared memory of the block that runs, then the allocations. Beside
// it stand, in ranges of their own and found by the same offset, a byte for
// each four bytes that says which of them exist and which have been written,
// and a record of the last accesses (Shadow.h). Pages exist once touched.
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
  /// Reserves the addresses for the device `number`; false if the system does
  /// not give them.
  bool open(int number);

  /// Zero if there is no more. Multiples of 256, as CUDA's are.
  uintptr_t allocate(size_t bytes);
  /// False if nothing starts at `address`.
  bool free(uintptr_t address);
  /// Whether all bytes are of one allocation.
  bool contains(uintptr_t address, size_t bytes) const;
  /// What lies there, for people: "byte 40 behind an allocation of 40 bytes".
  /// Also of memory of other devices, which it names.
  std::string describe(uintptr_t address) const;
  const std::map<uintptr_t, size_t> &allocations() const { return live; }

  /// Gives the block that starts `bytes` of shared memory that nobody wrote.
  void resetShared(size_t bytes, bool fill);
  uint8_t *shared() const { return reinterpret_cast<uint8_t *>(base); }
  bool isShared(uintptr_t address) const {
    return address - base < sharedRange;
  }

  /// Says of whole bytes whether they exist and are written.
  void mark(uintptr_t address, size_t bytes, bool exist, bool written);
  /// Gives `to` what is known of the bytes at `from` in `source`.
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
  size_t sharedBytes = 0; // of the block that ran last
  std::map<uintptr_t, size_t> live;
};

/// That of the device whose kernel runs.
extern Arena *arena;

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_ARENA_H
