//===- Fast.h - Schedules within a budget, fast -----------------*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_FAST_H
#define MLC_PASSES_MEMORY_FAST_H

#include "passes/Memory/Schedule.h"

namespace mlc::remat {

struct Plan {
  Holds holds;
  /// What it takes beyond every step once.
  double extraSeconds = 0;
  uint64_t peak = 0;
  /// Whether the peak is within the budget; else it is the lowest found.
  bool fits = false;
};

/// A plan with a peak of at most `budget` bytes and little time: values are
/// dropped one by one, each time the one that costs least for what it frees,
/// until nothing is above the budget; then parts of the plan are taken back
/// and made anew for as long as `work` (runs worked out) lasts. The same for
/// the same arguments: counted in work, not in time.
Plan solveFast(const Problem &problem, uint64_t budget, uint64_t work);

/// Work of a second or so.
constexpr uint64_t defaultWork = 2000000;

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_FAST_H
