//===- TrailGains.h - The gain of each step of a trail ----------*- C++ -*-===//

#ifndef MLC_REWRITES_SEARCH_TRAILGAINS_H
#define MLC_REWRITES_SEARCH_TRAILGAINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"

namespace mlc {

/// Distributes the gain of a search among the steps of its trail. Constructed
/// from the original function before the search; used after it.
class TrailGains {
public:
  TrailGains(mlir::func::FuncOp function, const CostModel &cost);

  /// A removed operator counts for the first step that matched it, a new one
  /// against the step that made it. The rest (operators whose cost depends on
  /// their neighbours) counts for the last step, so that the gains add up to
  /// the total.
  void share(Trail &trail, mlir::func::FuncOp function, RuleSet &rules) const;

private:
  const CostModel &cost;
  std::vector<double> seconds; // by term, at an operator's first result
  std::vector<TermId> makerOf; // by term: the operator's first result
  double total = 0;
};

} // namespace mlc

#endif // MLC_REWRITES_SEARCH_TRAILGAINS_H
