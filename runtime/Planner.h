//===- Planner.h - Static memory planner ------------------------*- C++ -*-===//
//
// Gives every buffer an offset in one arena so that buffers that live at the
// same time do not overlap. The compiler uses it (report, fixed dims) and the
// runtime (once per new set of symbol values). A pure, deterministic function:
// its budget counts steps of work, never time.
//
// Method: offset assignment in several orders (size, life, pressure, time),
// each with best fit among placed neighbours; then a local search that moves
// the buffers at the top of the arena forward in the best order, until the
// peak is within 1 % of the lower bound or the budget is used up.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_PLANNER_H
#define MLC_RUNTIME_PLANNER_H

#include <cstdint>
#include <vector>

namespace mlc::runtime {

/// One buffer: it needs `size` bytes (0 or more, below 2^62) at all times in
/// [first, last].
struct PlanItem {
  uint64_t size = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  /// Items (by index) whose memory this one may take over, if that item's
  /// `last` equals this one's `first` and the aligned sizes are equal. Each
  /// item gives its memory to at most one other.
  std::vector<uint32_t> inPlaceOf = {};
};

struct MemoryPlan {
  /// False if sizes add up to more than 2^62 bytes; the rest is then empty.
  bool ok = true;
  std::vector<uint64_t> offsets; ///< one per item, multiples of the alignment
  uint64_t peak = 0;             ///< bytes of the arena
  /// Largest sum of aligned sizes alive at one time, after the takeovers: no
  /// plan can be smaller.
  uint64_t lowerBound = 0;
};

struct PlanOptions {
  uint64_t alignment = 64; ///< a power of two
  /// Neighbour visits to spend on the search; half a million take at most 5 ms.
  uint64_t budget = 500000;
};

MemoryPlan planMemory(const std::vector<PlanItem> &items,
                      const PlanOptions &options = {});

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLANNER_H
