//===- Emit.h - From kernels to CUDA C++ ------------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_EMIT_H
#define MLC_CODEGEN_CUDA_EMIT_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// Prints `kernel` under the name `name`, with the first emitter that accepts
/// it (a table in Emit.cpp); the last accepts all. Emits an error on the
/// kernel's function if something in it cannot be printed.
mlir::FailureOr<KernelText> emitKernel(const Kernel &kernel,
                                       const EmitOptions &options,
                                       llvm::StringRef name);

/// Text in, machine code out: compiles every kernel of `module` and fills the
/// images of the artifact.
mlir::FailureOr<CompiledKernels> compileKernels(mlir::ModuleOp module,
                                                const Target &target,
                                                const CodegenOptions &options);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_EMIT_H
