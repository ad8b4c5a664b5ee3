//===- ApplyRules.h - Proved rewrites on a model ----------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_APPLYRULES_H
#define MLC_PASSES_OPTIMIZE_APPLYRULES_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "rewrites/Greedy.h"
#include <memory>

namespace mlc {

/// Applies the shipped, proved rules to every function of the module where
/// they pay on the target; the trail becomes the module's `mlc.trail`.
/// `timings` may be null.
mlir::LogicalResult applyRules(mlir::ModuleOp module, const Target &target,
                               const TimingCache *timings = nullptr,
                               const GreedyOptions &options = {});

/// `mlc-apply-rules`; from a tool's command line, for the target that its
/// option names (`cpu`).
std::unique_ptr<mlir::Pass>
createApplyRulesPass(std::optional<Target> target = std::nullopt,
                     std::shared_ptr<const TimingCache> timings = nullptr);
void registerApplyRulesPass();

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_APPLYRULES_H
