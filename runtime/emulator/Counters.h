//===- Counters.h - What a kernel's instructions cost a GPU -----*- C++ -*-===//
//
// Counts what warps ask of memory (Counts.h), for each kernel and source line,
// as a profiler does on a GPU.
//
// Threads here run one after another, so requests are put together afterwards:
// a warp's request is the k-th execution of one instruction in each lane since
// the warp last converged (a barrier, an operation of the whole warp, its end).
// This is exact if, between two such points, every lane runs an instruction
// equally often or never. It is approximate
//
//   - if lanes skip different iterations of a loop: accesses of different
//     iterations may count as one request;
//   - where the host's compiler differs from NVRTC: kernels are built without
//     `restrict`, so it loads again what may have changed; it may duplicate an
//     instruction for several branches, or drop one of equal values;
//   - for types whose alignment is below their size, and for copies of structs:
//     they count as accesses of 4 bytes, or fewer if misaligned.
//
// Accesses of 16 bytes count as such if they are loadWide(), storeWide(), a
// copy or loadMatrices(); the host's compiler takes others apart.
//
// Caches have no part in this: the second request for a sector counts like the
// first. Local memory, parameters and constants count nothing. Counts depend
// neither on the order of threads nor, for kernels without races, on the run.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_COUNTERS_H
#define MLC_RUNTIME_EMULATOR_COUNTERS_H

#include "runtime/emulator/Counts.h"
#include "runtime/emulator/Launch.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlc::emulator {

/// Whether the running launch is counted; each hook asks this first.
extern bool counting;

class Counters {
public:
  /// Begins to count if MLC_EMULATOR_COUNTERS is set and accesses are checked.
  void startLaunch(const Launch &launch, bool checks);
  void endLaunch();
  /// The running launch's block begins.
  void startBlock() { ++kernel->blocks; }

  /// An access by a thread, of 1, 2, 4, 8 or 16 aligned bytes.
  void access(unsigned thread, uintptr_t address, unsigned bytes, bool isWrite,
              uint32_t place);
  /// Accesses of any size and alignment, piece by piece.
  void pieces(unsigned thread, uintptr_t address, size_t bytes, bool isWrite,
              uint32_t place);
  /// The threads [first, end), a warp, have converged: counts their requests.
  void converge(unsigned first, unsigned end);
  /// The counts of a place, to add operations to.
  Counts &at(uint32_t place);

private:
  /// An access that waits for the warp's other lanes.
  struct Entry {
    uintptr_t address;
    uint32_t place;
    uint8_t width; ///< log2 of the bytes
    Kind kind;

    uint64_t instruction() const {
      return uint64_t(place) << 8 | uint64_t(width) << 4 | uint64_t(kind);
    }
  };
  /// One lane's part of a request.
  struct Part {
    uint64_t instruction;
    uint32_t occurrence, lane;
    uintptr_t address;
  };
  bool inLockstep(unsigned first, unsigned end) const;
  void takeTogether(unsigned first, unsigned end);
  void putTogether(unsigned first, unsigned end);
  void request(uint64_t instruction, const Part *lanes, size_t count);

  KernelCounts *kernel = nullptr;
  uint32_t lastPlace = 0;
  Counts *last = nullptr;               ///< of `lastPlace`
  std::vector<std::vector<Entry>> logs; ///< by thread
  std::vector<Part> parts;
};

extern Counters counters;

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_COUNTERS_H
