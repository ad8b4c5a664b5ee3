//===- Greedy.h - Applying rules where they pay -----------------*- C++ -*-===//

#ifndef MLC_REWRITES_SEARCH_GREEDY_H
#define MLC_REWRITES_SEARCH_GREEDY_H

#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"

namespace mlc {

struct GreedyOptions {
  FpMode fp = FpMode::Fast;
  /// Upper bound on steps, so that rewriting ends even if the cost model were
  /// not monotone.
  unsigned maxSteps = 100000;
};

/// Applies rules to `function` wherever the cost model says that it pays,
/// until none does. Only rules with a recorded proof take part. Returns the
/// trail.
Trail applyGreedily(mlir::func::FuncOp function, RuleSet &rules,
                    const CostModel &cost, const GreedyOptions &options = {});

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_GREEDY_H
