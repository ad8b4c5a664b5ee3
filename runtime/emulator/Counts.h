//===- Counts.h - Figures of a kernel ---------------------------*- C++ -*-===//
//
// Terms are those of NVIDIA's Nsight Compute
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
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_COUNTS_H
#define MLC_RUNTIME_EMULATOR_COUNTS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

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
  uint64_t copies = 0;       ///< of the copy engine, to and from shared memory
  uint64_t copiedBytes = 0;  ///< by these, with zeros outside of tensors
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
  take(std::string("copies"), counts.copies);
  take(std::string("copied_bytes"), counts.copiedBytes);
  take(std::string("atomics"), counts.atomics);
}

#endif // MLC_RUNTIME_EMULATOR_COUNTS_H
