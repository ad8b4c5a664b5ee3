//===- ScatterAdd.h - Slices added by indices as CUDA C++ -------*- C++ -*-===//
//
// A block adds to a part of the result what the runtime's library kernel of
// that name adds (runtime/Library.h), byte for byte: kernels/scatter.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_SCATTERADD_H
#define MLC_CODEGEN_CUDA_SCATTERADD_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// Whether it is one of the library kernels that are compiled so.
bool isScatterKernel(llvm::StringRef libraryKernel);

bool acceptsScatterAdd(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitScatterAdd(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_SCATTERADD_H
