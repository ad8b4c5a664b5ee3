//===- Exact.h - Schedules within a budget, proved the fastest --*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_EXACT_H
#define MLC_PASSES_MEMORY_EXACT_H

#include "passes/Memory/ExactPlan.h"

namespace mlc::remat {

/// Checkmate's integer program (Jain et al., MLSys 2020) through CBC, with
/// takeovers: the fastest of all plans that fit the budget. `start` is a plan
/// that fits, or null.
ExactPlan solveExact(const Problem &problem, uint64_t budget, const Plan *start,
                     const ExactOptions &options = {});

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_EXACT_H
