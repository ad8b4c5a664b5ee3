//===- ProgramRanks.h - Meshes and parts as the runtime's data --*- C++ -*-===//

#ifndef MLC_PASSES_PROGRAMRANKS_H
#define MLC_PASSES_PROGRAMRANKS_H

#include "dialects/Exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"

namespace mlc {

/// The axes of the module's `dist.mesh`; empty if it has none. Emits an error
/// if a size is not a number.
mlir::FailureOr<std::vector<runtime::MeshAxis>>
readMeshAxes(mlir::ModuleOp module);

/// The index of the axis of that name. Emits an error at `op` if there is none.
mlir::FailureOr<uint32_t> findAxis(mlir::Operation *op,
                                   const std::vector<runtime::MeshAxis> &mesh,
                                   llvm::StringRef name);

/// The splits of the dims that `split` names axes for; null: none.
mlir::FailureOr<std::vector<runtime::Split>>
readSplits(mlir::Operation *op, const std::vector<runtime::MeshAxis> &mesh,
           mlir::ArrayAttr split);

} // namespace mlc

#endif // MLC_PASSES_PROGRAMRANKS_H
