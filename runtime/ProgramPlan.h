//===- ProgramPlan.h - The memory plan of a program -------------*- C++ -*-===//
//
// Turns a program and the values of its symbols into the planner's items. The
// runtime plans with it; the compiler calls it for its report:
//
//   ArenaPlan plan;
//   Status s = planArena(program, liveRanges(program), symbols.data(), {},
//   plan);
//   // plan.memory.peak beside plan.memory.lowerBound
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_PROGRAMPLAN_H
#define MLC_RUNTIME_PROGRAMPLAN_H

#include "runtime/Planner.h"
#include "runtime/Program.h"

#include <functional>

namespace mlc::runtime {

struct ArenaPlan {
  std::vector<BufferId> buffers; ///< placed; in the order of `memory`
  MemoryPlan memory;
};

struct ArenaOptions {
  /// Which arena buffers to place; empty: all. (One epoch's, in the runtime.)
  std::function<bool(BufferId)> select;
  /// Let every buffer live from the first step to the last.
  bool keepAll = false;
  PlanOptions planner;
};

/// Places the arena buffers of a valid program, whose live ranges are `lives`,
/// for the symbol values `symbols`. Fails if a size is negative or overflows.
Status planArena(const Program &program, const std::vector<LiveRange> &lives,
                 const int64_t *symbols, const ArenaOptions &options,
                 ArenaPlan &plan);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PROGRAMPLAN_H
