//===- Counters.h - What a kernel's instructions cost a GPU -----*- C++ -*-===//
//
// Counts what warps ask of memory, for each kernel and source line, as a
// profiler does on a GPU. Terms are those of NVIDIA's Nsight Compute
// (docs.nvidia.com/nsight-compute/ProfilingGuide, "Memory Tables"):
//
//   request    one access instruction of a warp, of all its active lanes;
//   sector     32 aligned bytes of global memory; a request fetches each sector
//              that its lanes touch once;
//   wavefront  a pass through shared memory, which has 32 banks of 4 bytes. A
//              wavefront serves one word of each bank, to any number of lanes.
//              Lanes go together as far as they ask for 128 bytes: all 32 of up
//              to 4 bytes each, 16 of 8 bytes, 8 of 16 bytes. Rows of
//              loadMatrices() are accesses of 16 bytes.
//
// Ideal sectors hold the distinct bytes of a request without gaps. Ideal
// wavefronts are one for each set of lanes that goes together. What exceeds
// them is waste: gaps, misalignment, bank conflicts.
//
// Threads here run one after another, so requests are put together afterwards:
// a warp's request is the k-th execution of one instruction in each lane since
// the warp last converged (a barrier, an operation of the whole warp, its end).
// This is exact if every lane runs an instruction equally often, or skips it
// altogether. It is approximate
//
//   - if lanes skip different iterations of a loop: accesses of different
//     iterations may count as one request;
//   - where the host's compiler differs from NVRTC: it loads again what may
//   have
//     changed, since kernels are built without `restrict`; it may duplicate an
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

#include "runtime/emulator/Launch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mlc::emulator {

/// Accesses of one kind.
struct Traffic {
  uint64_t requests = 0;
  uint64_t lanes = 0; ///< active ones, of all requests
  uint64_t bytes = 0; ///< that these lanes ask for
  uint64_t units = 0; ///< sectors of global memory, wavefronts of shared memory
  uint64_t ideal = 0; ///< the fewest possible
  std::array<uint64_t, 5> widths = {}; ///< requests of 1, 2, 4, 8, 16 bytes
};

enum class Kind : uint8_t { GlobalLoad, GlobalStore, SharedLoad, SharedStore };
constexpr size_t kindCount = 4;

/// What happened at a place.
struct Counts {
  std::array<Traffic, kindCount> traffic; ///< by Kind
  uint64_t barriers = 0;                  ///< of blocks
  uint64_t warpBarriers = 0;
  uint64_t shuffles = 0;     ///< of warps
  uint64_t products = 0;     ///< instructions of tensor cores
  uint64_t multiplyAdds = 0; ///< of these
  uint64_t atomics = 0;      ///< of threads

  void add(const Counts &more);
};

/// Calls `take(name, value)` for each figure, "global_loads.sectors", ...
template <typename Take> void forEachFigure(const Counts &counts, Take take);

/// A kernel over all its launches.
struct KernelCounts {
  uint64_t launches = 0, blocks = 0, threads = 0;
  std::map<uint32_t, Counts> places; ///< offsets in the module's code

  Counts total() const;
};

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

template <typename Take>
void mlc::emulator::forEachFigure(const Counts &counts, Take take) {
  static constexpr const char *kinds[] = {"global_loads", "global_stores",
                                          "shared_loads", "shared_stores"};
  for (size_t kind = 0; kind < kindCount; ++kind) {
    const Traffic &traffic = counts.traffic[kind];
    std::string name = std::string(kinds[kind]) + ".";
    std::string unit = kind < 2 ? "sectors" : "wavefronts";
    take(name + "requests", traffic.requests);
    take(name + "lanes", traffic.lanes);
    take(name + "bytes", traffic.bytes);
    take(name + unit, traffic.units);
    take(name + "ideal_" + unit, traffic.ideal);
    for (unsigned i = 0; i < traffic.widths.size(); ++i)
      take(name + "of_" + std::to_string(1u << i) + "_bytes",
           traffic.widths[i]);
  }
  take(std::string("barriers"), counts.barriers);
  take(std::string("warp_barriers"), counts.warpBarriers);
  take(std::string("shuffles"), counts.shuffles);
  take(std::string("products"), counts.products);
  take(std::string("multiply_adds"), counts.multiplyAdds);
  take(std::string("atomics"), counts.atomics);
}

#endif // MLC_RUNTIME_EMULATOR_COUNTERS_H
