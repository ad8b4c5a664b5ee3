//===- ApplyRules.h - Proved rewrites on a model ----------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_APPLYRULES_H
#define MLC_PASSES_OPTIMIZE_APPLYRULES_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "rewrites/Greedy.h"

namespace mlc {

/// Applies the shipped, proved rules to every function of the module where
/// they pay on the target; the trail becomes the module's `mlc.trail`.
mlir::LogicalResult applyRules(mlir::ModuleOp module, const Target &target,
                               const GreedyOptions &options = {});

/// `mlc-apply-rules`; from a tool's command line, for the target that its
/// option names (`cpu`).
std::unique_ptr<mlir::Pass>
createApplyRulesPass(std::optional<Target> target = std::nullopt);
void registerApplyRulesPass();

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_APPLYRULES_H
