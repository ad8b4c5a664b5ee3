//===- Transpose.h - Elementwise kernels through tiles ----------*- C++ -*-===//
//
// An elementwise kernel may read some inputs along another dim than it writes
// (a transpose, alone or fused). It loads these as tiles into shared memory, so
// that neighbouring threads read and write neighbours: kernels/transpose.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_TRANSPOSE_H
#define MLC_CODEGEN_CUDA_TRANSPOSE_H

#include "codegen/cuda/KernelPrinter.h"

namespace mlc::cuda {

bool acceptsTranspose(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitTranspose(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_TRANSPOSE_H
