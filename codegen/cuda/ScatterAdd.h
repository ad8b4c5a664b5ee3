//===- ScatterAdd.h - Slices added by indices as CUDA C++ -------*- C++ -*-===//
//
// Each block computes a part of the result, byte for byte as the runtime's
// library kernel of that name does (runtime/Library.h): kernels/scatter.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_SCATTERADD_H
#define MLC_CODEGEN_CUDA_SCATTERADD_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// Whether this library kernel is compiled in this copyMode.
bool isScatterKernel(llvm::StringRef libraryKernel);

bool acceptsScatterAdd(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitScatterAdd(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_SCATTERADD_H
