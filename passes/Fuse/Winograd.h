//===- Winograd.h - Convolutions that Winograd speeds up --------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_WINOGRAD_H
#define MLC_PASSES_FUSE_WINOGRAD_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlc {

/// `mlc-winograd`: marks the kernels of 3×3 convolutions that
/// codegen/cpu/Winograd.h would compute faster, and replaces the filters that
/// they are launched with by their transforms. A kernel is left alone unless
/// every launch passes it a constant filter of finite numbers.
std::unique_ptr<mlir::Pass> createWinogradPass(const Target &target);
mlir::LogicalResult applyWinograd(mlir::ModuleOp module, const Target &target);
void registerWinogradPass();

} // namespace mlc

#endif // MLC_PASSES_FUSE_WINOGRAD_H
