//===- Greedy.h - Applying rules where they pay -----------------*- C++ -*-===//

#ifndef MLC_REWRITES_GREEDY_H
#define MLC_REWRITES_GREEDY_H

#include "rewrites/Cost.h"
#include "rewrites/Rule.h"

namespace mlc {

/// How floats may differ from the model as written.
enum class FpMode {
  Strict,      // bit-exact rules only
  Reassociate, // also rules that only reassociate
  Fast,        // all rules; promises finite inputs only
};

/// One applied rule, as it stands in the trail.
struct AppliedRule {
  std::string rule, hash;
  std::vector<std::string> places; // names of the operators that it replaced
  std::string bindings;            // "c = 64, k = 3"
  double gainSeconds = 0;          // predicted
};

struct GreedyOptions {
  FpMode fp = FpMode::Fast;
  /// Upper bound on steps, so that a set of rules cannot run for ever even if
  /// the cost model were not monotone.
  unsigned maxSteps = 100000;
};

/// Applies rules to `function` wherever the cost model says that it pays,
/// until none does. Only rules with a recorded proof take part. Returns the
/// trail in order.
std::vector<AppliedRule> applyGreedily(mlir::func::FuncOp function,
                                       RuleSet &rules, const CostModel &cost,
                                       const GreedyOptions &options = {});

/// The trail as the module attribute `mlc.trail`, and back.
mlir::ArrayAttr toAttribute(llvm::ArrayRef<AppliedRule> trail,
                            mlir::MLIRContext *context);
std::vector<AppliedRule> readTrail(mlir::ArrayAttr attribute);

} // namespace mlc

#endif // MLC_REWRITES_GREEDY_H
