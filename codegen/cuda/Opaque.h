//===- Opaque.h - Opaque operators as CUDA C++ ------------------*- C++ -*-===//
//
// A kernel of its own for an operator that the runtime's library has a kernel
// for too (runtime/Library.h), and byte for byte the same results. The
// operators without a row in the table run in the library, on the host.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_OPAQUE_H
#define MLC_CODEGEN_CUDA_OPAQUE_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// Whether the table has operators with this library kernel.
bool hasOpaqueKernel(llvm::StringRef libraryKernel);

bool acceptsOpaque(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitOpaque(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_OPAQUE_H
