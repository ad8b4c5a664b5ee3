//===- Fuse.h - Kernels and the program that runs them ----------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_FUSE_H
#define MLC_PASSES_FUSE_FUSE_H

#include "passes/Base/Passes.h"

namespace mlc {

/// `mlc-fuse`: the public functions of linalg on tensors become kernels
/// (`func.func` with `mlc.kernel`, docs/Architecture.md) and one `exec.program`
/// that runs them.
std::unique_ptr<mlir::Pass> createFusePass(const CodeTarget &target);
mlir::LogicalResult fuse(mlir::ModuleOp module, const CodeTarget &target);

} // namespace mlc

#endif // MLC_PASSES_FUSE_FUSE_H
