//===- Prepare.h - Passes before rules --------------------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_PREPARE_H
#define MLC_PASSES_OPTIMIZE_PREPARE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlc {

/// Adds the passes that a model goes through before a search. A trail refers to
/// their result, so whoever replays a trail runs them as well.
void addPreparePasses(mlir::OpPassManager &pm);

/// Runs them on a module.
mlir::LogicalResult prepare(mlir::ModuleOp module);

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_PREPARE_H
