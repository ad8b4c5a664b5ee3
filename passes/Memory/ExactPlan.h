//===- ExactPlan.h - What a search for the fastest gives --------*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_EXACTPLAN_H
#define MLC_PASSES_MEMORY_EXACTPLAN_H

#include "passes/Memory/Fast.h"

#include <optional>

namespace mlc::remat {

struct ExactOptions {
  /// Nodes of the branch-and-bound tree after which it stops without a proof.
  int nodes = 20000;
  /// Time limit for measurements, whose results may vary; 0: no limit.
  double seconds = 0;
};

struct ExactPlan {
  /// The best plan found, if any.
  std::optional<Plan> plan;
  /// No plan takes less time beyond running every step once; infinite if
  /// nothing fits the budget.
  double bound = 0;
  /// Whether the plan is proved optimal.
  bool isProved = false;
};

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_EXACTPLAN_H
