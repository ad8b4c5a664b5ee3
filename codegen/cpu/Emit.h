//===- Emit.h - From kernels to a shared object -----------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_EMIT_H
#define MLC_CODEGEN_CPU_EMIT_H

#include "codegen/kernel/Backend.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlc::cpu {

/// Compiles every function with `mlc.kernel` of `module` (left unchanged).
/// Errors are emitted at the function concerned.
///
/// The embedded linker resets all llvm::cl options of the process, so read them
/// before.
mlir::FailureOr<CompiledKernels> compileKernels(mlir::ModuleOp module,
                                                const Target &target,
                                                const CodegenOptions &options);

/// The same kernels without code.
mlir::FailureOr<CompiledKernels> previewKernels(mlir::ModuleOp module,
                                                const Target &target);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_EMIT_H
