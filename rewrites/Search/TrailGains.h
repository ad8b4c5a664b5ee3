//===- TrailGains.h - What each step of a trail gains -----------*- C++ -*-===//

#ifndef MLC_REWRITES_SEARCH_TRAILGAINS_H
#define MLC_REWRITES_SEARCH_TRAILGAINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"

namespace mlc {

/// Shares what a search has gained among the steps of its trail: made before
/// the search, of the function as it is then; asked after it.
class TrailGains {
public:
  TrailGains(mlir::func::FuncOp function, const CostModel &cost);

  /// An operator that is gone counts for the first step that lay over it, one
  /// that is new against the step that made it; what is left (operators that
  /// cost another sum beside other ones) for the last step. So the gains add
  /// up to what the whole takes less.
  void share(Trail &trail, mlir::func::FuncOp function, RuleSet &rules) const;

private:
  const CostModel &cost;
  std::vector<double> seconds; // by term, at an operator's first one
  std::vector<TermId> makerOf; // by term: that first one
  double total = 0;
};

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_TRAILGAINS_H
