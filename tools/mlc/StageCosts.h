//===- StageCosts.h - What the stages of a step take ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGECOSTS_H
#define MLC_TOOLS_MLC_STAGECOSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/schedule/StageEntry.h"
#include "simulator/timeline/StepCosts.h"
#include "tools/mlc/EntryTimes.h"

namespace mlc::cli {

/// The entry of a function of a step: one of a stage, or of a step without
/// stages, whose gradients are B of stage 0 and whose update is its STEP.
/// Nothing for other functions.
std::optional<runtime::schedule::StageEntry> findEntry(llvm::StringRef name);

/// A copy of the module in which nothing is computed or exchanged twice: the
/// phases after Distribute see to that.
mlir::OwningOpRef<mlir::ModuleOp> withoutRepeats(mlir::ModuleOp module);

/// Reads the entries of a step (docs/Pipelines.md), of known dims, as numbers.
/// `ranks` has for each stage the ranks of the cluster that run it. Fails as
/// EntryTimes does.
llvm::Expected<simulator::StepCosts>
readStepCosts(mlir::ModuleOp module, const EntryTimes &entries,
              llvm::ArrayRef<std::vector<int64_t>> ranks);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STAGECOSTS_H
