//===- ExplainChoices.h - Steps that a search rejected ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EXPLAINCHOICES_H
#define MLC_TOOLS_MLC_EXPLAINCHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include <vector>

namespace mlc::cli {

/// Steps that the rules allow in a result but the cost model rejects.
struct Choice {
  std::vector<TrailStep> steps;
  /// The predicted slowdown of one run; positive.
  double lossSeconds = 0;
  /// The number of places for the same rules; this is the least bad one.
  unsigned places = 1;
};

/// The steps that remain possible in `function`: each rule by itself, and each
/// rule with a free choice (how far to enlarge a kernel) that makes an operator
/// match a neighbour, together with the steps that this enables. Returns the
/// least bad of each kind, in that order. Does not change `function`.
std::vector<Choice> findChoices(mlir::func::FuncOp function, RuleSet &rules,
                                const CostModel &cost);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAINCHOICES_H
