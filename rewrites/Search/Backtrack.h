//===- Backtrack.h - A queue of whole graphs --------------------*- C++ -*-===//
//
// The search of TASO (Jia et al., SOSP 2019, algorithm 2): graphs wait in a
// queue, cheapest first; each graph taken out gives new ones by one step of
// every rule at every place. Those that cost less than `alpha` times the best
// are kept, so a step with a cost may enable one that pays.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_SEARCH_BACKTRACK_H
#define MLC_REWRITES_SEARCH_BACKTRACK_H

#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"

namespace mlc {

struct BacktrackOptions {
  FpMode fp = FpMode::Fast;
  double alpha = 1.05;
  /// Maximum number of graphs taken out of the queue, and of graphs waiting in
  /// it (the most expensive are dropped).
  unsigned maxGraphs = 1000, maxWaiting = 500;
  /// Budget of operators visited, built or copied, as a measure of time;
  /// checked after every graph.
  uint64_t steps = 3'000'000;
};

/// Why the search ended.
enum class BacktrackStop { Exhausted, GraphLimit, StepLimit };

struct BacktrackReport {
  BacktrackStop stop = BacktrackStop::Exhausted;
  unsigned expanded = 0; ///< graphs taken out of the queue
  unsigned built = 0;    ///< different graphs
  uint64_t steps = 0;    ///< see BacktrackOptions
};

/// Replaces `function` by the cheapest graph that was found; uses only rules
/// with a recorded proof and without free sizes (how far to enlarge a kernel).
/// Returns the trail to it; fills in `report` if given.
Trail applyBacktracking(mlir::func::FuncOp function, RuleSet &rules,
                        const CostModel &cost,
                        const BacktrackOptions &options = {},
                        BacktrackReport *report = nullptr);

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_BACKTRACK_H
