//===- Pipeline.h - Every pass, in order ------------------------*- C++ -*-===//

#ifndef MLC_PASSES_PIPELINE_H
#define MLC_PASSES_PIPELINE_H

#include "codegen/Backends.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Differentiate/TrainingOptions.h"
#include "passes/Optimize/ApplyRules.h"
#include "runtime/plan/Plan.h"

namespace mlc {

/// Inputs of the passes.
struct PipelineOptions {
  Target target;
  /// The back end; null: the registry's for the target. Needed from the layout
  /// phase on.
  const Backend *backend = nullptr;
  /// What contractions of float32 may use.
  Precision precision = Precision::TF32;
  /// Training options, if the model is trained.
  std::optional<DifferentiateOptions> training;
  /// How programs are split over ranks; empty if they are not.
  runtime::Plan plan;
  /// Whether to apply rules, and how.
  bool rewrites = true;
  RewriteOptions rewriting;

  /// The target with its back end, if any.
  CodeTarget getCodeTarget() const {
    return {target, backend ? backend : findBackend(target)};
  }
};

/// The passes of each phase; Phases.cpp has the table. The first two take a
/// model as passes/Import makes it: @main, with weights that change as
/// parameters (dialects/Module/CompileTime.h). Distribution also takes the
/// entries that differentiation makes.
void addDifferentiatePasses(mlir::OpPassManager &pm,
                            const DifferentiateOptions &options,
                            const runtime::Plan &plan = {});
void addDistributePasses(mlir::OpPassManager &pm, const runtime::Plan &plan);
void addOptimizePasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addLayoutPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addLowerPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addFusePasses(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Makes every pass known to tools that take passes by name (mlc-opt, the
/// plugin).
void registerPasses();

/// Registers the dialects of models and of everything derived from them, with
/// the interfaces that code generation attaches.
void registerCompilerDialects(mlir::DialectRegistry &registry);

} // namespace mlc

#endif // MLC_PASSES_PIPELINE_H
