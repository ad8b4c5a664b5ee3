//===- ApplyRules.h - Proved rewrites on a model ----------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_APPLYRULES_H
#define MLC_PASSES_OPTIMIZE_APPLYRULES_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "rewrites/GivenRules.h"
#include "rewrites/Search.h"
#include <functional>
#include <memory>

namespace mlc {

/// How the rules are used.
struct RewriteOptions {
  SearchOptions search;
  /// Rules beside the shipped ones.
  std::vector<GivenRules> rules;
  /// The result is for another runtime, not for mlc's code generator: rules
  /// that only suit the latter are left out, and convolutions are priced
  /// without Winograd's algorithm (docs/Measurements/cost-model.md).
  bool forOthers = false;
  /// Measured times, which go before predicted ones; null: none.
  std::shared_ptr<const TimingCache> timings;
  /// Told what the search in each function came to.
  std::function<void(const SearchReport &)> onSearch;
};

/// Searches every function of the module, with the shipped rules and those of
/// the options, for what is cheapest on the target; the trails become the
/// module's `mlc.trail`.
mlir::LogicalResult applyRules(mlir::ModuleOp module, const Target &target,
                               const RewriteOptions &options = {});

/// `mlc-apply-rules`; from a tool's command line, for the target and by the
/// engine that its options name (`cpu`, `egraph`).
std::unique_ptr<mlir::Pass>
createApplyRulesPass(std::optional<Target> target = std::nullopt,
                     const RewriteOptions &options = {});
void registerApplyRulesPass();

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_APPLYRULES_H
