//===- EntryArena.h - An entry's arena before it is compiled ----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_ENTRYARENA_H
#define MLC_TOOLS_MLC_ENTRYARENA_H

#include "codegen/kernel/Backend.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/Cost/Cost.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace mlc::cli {

/// The bytes of a tensor of known dims; 0 for others. Where parts of ranks
/// differ, the first rank's, which are the largest.
int64_t tensorBytes(mlir::Type type);

/// What the runtime's planner takes for the intermediate results of an entry of
/// known dims, estimated from its operators. `isDirect`: results that are
/// written to memory of others.
int64_t estimateArena(mlir::func::FuncOp entry, llvm::ArrayRef<bool> isDirect,
                      const CostModel &cost);

/// The same, to the byte, of the program that the phase Fuse makes of the
/// entry, from what the back end says of `kernels`, by name; without a kernel
/// none of its outputs takes an input's memory. `elsewhere` names the results
/// that are written to memory of others. Nothing if sizes are open.
std::optional<int64_t>
findArena(exec::ProgramOp program,
          const llvm::StringMap<const CompiledKernel *> &kernels,
          const llvm::StringSet<> &elsewhere);
/// The bytes of scratch that a thread has for the program; nothing if a kernel
/// is unknown or its sizes are open.
std::optional<int64_t>
findScratch(exec::ProgramOp program,
            const llvm::StringMap<const CompiledKernel *> &kernels);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_ENTRYARENA_H
