//===- ExplainChoices.h - What a search did not do, and why -----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EXPLAINCHOICES_H
#define MLC_TOOLS_MLC_EXPLAINCHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include <vector>

namespace mlc::cli {

/// Steps that the rules allow in a result, but that the cost model is against.
struct Choice {
  std::vector<TrailStep> steps;
  /// By how much one run would be slower, predicted; positive.
  double lossSeconds = 0;
  /// Where the same rules could be applied; this is the least bad of them.
  unsigned places = 1;
};

/// The steps that remain possible in `function`: each rule by itself, and each
/// rule with a free choice (how far to enlarge a kernel) where it makes an
/// operator alike to a neighbour, together with what then becomes possible.
/// The least bad of each kind, in that order. Leaves `function` as it is.
std::vector<Choice> findChoices(mlir::func::FuncOp function, RuleSet &rules,
                                const CostModel &cost);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAINCHOICES_H
