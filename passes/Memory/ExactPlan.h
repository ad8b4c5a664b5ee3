//===- ExactPlan.h - What a search for the fastest gives --------*- C++ -*-===//

#ifndef MLC_PASSES_MEMORY_EXACTPLAN_H
#define MLC_PASSES_MEMORY_EXACTPLAN_H

#include "passes/Memory/Fast.h"

#include <optional>

namespace mlc::remat {

struct ExactOptions {
  /// Nodes of the branch and bound tree, after which it ends without a proof.
  int nodes = 20000;
  /// For measurements, whose results need not be the same twice; 0: no limit.
  double seconds = 0;
};

struct ExactPlan {
  /// The best that was found, if anything was.
  std::optional<Plan> plan;
  /// Nothing takes less beyond every step once; infinite where nothing fits
  /// the budget.
  double bound = 0;
  /// Whether nothing better is left to be found.
  bool isProved = false;
};

} // namespace mlc::remat

#endif // MLC_PASSES_MEMORY_EXACTPLAN_H
