//===- Fast.h - Schedules within a budget, fast -----------------*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_FAST_H
#define MLC_PASSES_MEMORY_FAST_H

#include "passes/Memory/Schedule.h"

namespace mlc::remat {

struct Plan {
  Holds holds;
  /// Seconds beyond running every step once.
  double extraSeconds = 0;
  uint64_t peak = 0;
  /// Whether the peak is within the budget; if not, it is the lowest found.
  bool fits = false;
};

/// A plan with a peak of at most `budget` bytes and little time. Values are
/// dropped one by one, each time the one with the lowest cost per byte freed,
/// until the peak fits. Then parts of the plan are undone and rebuilt as long
/// as `work` (simulated runs) lasts. Counted in work, not in time, so that
/// equal arguments give equal plans.
Plan solveFast(const Problem &problem, uint64_t budget, uint64_t work);

/// About a second of work.
constexpr uint64_t defaultWork = 2000000;

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_FAST_H
