//===- Backtrack.h - A queue of whole graphs --------------------*- C++ -*-===//
//
// The search of TASO (Jia et al., SOSP 2019, algorithm 2): graphs wait in a
// queue, cheapest first; each that is taken out gives new ones by one step of
// every rule at every place, of which those stay that cost less than `alpha`
// times the best. So a step that costs something now may prepare one that pays.
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
  /// Graphs that are taken out of the queue, and that wait in it (the dearest
  /// leave).
  unsigned maxGraphs = 1000, maxWaiting = 500;
  /// Operators that are looked at, built or copied: what takes the time,
  /// counted; checked after every graph that is built.
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

/// Replaces `function` by the cheapest graph that was found; only rules with a
/// recorded proof take part, and none that leaves a size open (how far to
/// enlarge a kernel). Returns the trail to it; fills in `report` when there is
/// one.
Trail applyBacktracking(mlir::func::FuncOp function, RuleSet &rules,
                        const CostModel &cost,
                        const BacktrackOptions &options = {},
                        BacktrackReport *report = nullptr);

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_BACKTRACK_H
