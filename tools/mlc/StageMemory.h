//===- StageMemory.h - The memory of a step's entries -----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGEMEMORY_H
#define MLC_TOOLS_MLC_STAGEMEMORY_H

#include "codegen/Backends.h"
#include "mlir/IR/BuiltinOps.h"
#include "rewrites/Cost/Cost.h"
#include "simulator/timeline/StepMemory.h"
#include "tools/mlc/Model.h"

namespace mlc::cli {

/// Reads the entries that mlc-cut-stages makes, of known dims. States, values
/// and samples are to the byte. Arenas are estimated (EntryArena.h). `slots`
/// are the versions of weights that each stage keeps at once; empty: one of
/// each.
simulator::StepMemory readStepMemory(mlir::ModuleOp module,
                                     const CostModel &cost,
                                     llvm::ArrayRef<int64_t> slots = {});

/// Replaces the estimates by what the programs take that the phase Fuse has
/// made; `step` is of the same module. Returns whether that is to the byte, as
/// it is if the back end knows its kernels before there is code.
bool previewArenas(mlir::ModuleOp module, const CodeTarget &target,
                   unsigned threads, simulator::StepMemory &step);

/// Replaces the estimates by what the compiled entries take, to the byte, on
/// the first device with `threads` threads. `step` is of the module that
/// `built` was made from.
llvm::Error readArenas(const Model &built, unsigned threads,
                       simulator::StepMemory &step);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STAGEMEMORY_H
