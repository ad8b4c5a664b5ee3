//===- TopK.h - The k best elements of rows as CUDA C++ ---------*- C++ -*-===//
//
// A block selects and sorts the k largest or smallest elements of one row, as
// the runtime's library kernel of that name does (runtime/Library.h), byte for
// byte: kernels/topk.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_TOPK_H
#define MLC_CODEGEN_CUDA_TOPK_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

/// The name of the library kernel in the operator.
constexpr const char *topKKernel = "topk";

bool acceptsTopK(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitTopK(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_TOPK_H
