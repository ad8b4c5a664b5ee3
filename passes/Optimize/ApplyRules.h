//===- ApplyRules.h - Proved rewrites on a model ----------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_APPLYRULES_H
#define MLC_PASSES_OPTIMIZE_APPLYRULES_H

#include "codegen/Backends.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "rewrites/Rules/GivenRules.h"
#include "rewrites/Search/Search.h"
#include <functional>
#include <memory>

namespace mlc {

/// Options of the rewrite search.
struct RewriteOptions {
  SearchOptions search;
  /// Rules besides the shipped ones.
  std::vector<GivenRules> rules;
  /// The result is for another runtime, not for mlc's code generator: rules
  /// that only suit mlc are left out, and its convolution algorithms are not
  /// priced (docs/Measurements/cost-model.md).
  bool forOthers = false;
  /// Measured times, which take precedence over predictions; null: none.
  std::shared_ptr<const TimingCache> timings;
  /// Assumed sizes of open dims for predictions (SymbolSizes).
  std::map<std::string, int64_t, std::less<>> assumedSizes;
  /// Called when a function's search begins, and with its outcome.
  std::function<void()> onSearchStart;
  std::function<void(const SearchReport &)> onSearch;
};

/// The cost model of a search with these options: the target's costs, the
/// options' timings, which the result refers to, and the back end's algorithms,
/// if it has a back end and the result is not for others.
CostModel makeCostModel(const CodeTarget &target,
                        const RewriteOptions &options);

/// Searches every function of the module, with the shipped rules and those of
/// the options, for the cheapest form on the target, which may have no back
/// end. The trails become the module's `mlc.trail`.
mlir::LogicalResult applyRules(mlir::ModuleOp module, const CodeTarget &target,
                               const RewriteOptions &options = {});

/// `mlc-apply-rules` with these options.
std::unique_ptr<mlir::Pass> createApplyRulesPass(const CodeTarget &target,
                                                 const RewriteOptions &options);

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_APPLYRULES_H
