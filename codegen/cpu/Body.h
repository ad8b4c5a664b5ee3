//===- Body.h - The function that an emitter fills --------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_BODY_H
#define MLC_CODEGEN_CPU_BODY_H

#include "codegen/cpu/Emit.h"

namespace mlc::cpu {

using EmitterFn =
    llvm::function_ref<mlir::FailureOr<EmittedKernel>(KernelBody &)>;

/// Adds two functions at `b`: `symbol`, with the ABI of runtime/Kernel.h, and
/// the body that it calls, filled by `emitter`. Fails when the emitter does.
mlir::FailureOr<EmittedKernel>
emitFunction(mlir::OpBuilder &b, const Kernel &kernel, const Target &target,
             llvm::StringRef symbol, EmitterFn emitter);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_BODY_H
