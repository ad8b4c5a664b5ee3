//===- Pipeline.h - Every pass, in order ------------------------*- C++ -*-===//

#ifndef MLC_PASSES_PIPELINE_H
#define MLC_PASSES_PIPELINE_H

#include "codegen/Target.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Optimize/ApplyRules.h"

namespace mlc {

/// What the passes need to know.
struct PipelineOptions {
  Target target;
  /// Apply rules, and how.
  bool rewrites = true;
  RewriteOptions rewriting;
};

/// The passes of each phase; Phases.cpp has the table.
void addOptimizePasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addLayoutPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addLowerPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
void addFusePasses(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Makes every pass known to tools that take passes by name (mlc-opt, the
/// plugin).
void registerPasses();

/// The dialects that models, and what becomes of them, are made of, with the
/// interfaces that code generation attaches.
void registerCompilerDialects(mlir::DialectRegistry &registry);

} // namespace mlc

#endif // MLC_PASSES_PIPELINE_H
