//===- Backend.h - Code for GPUs by CUDA ------------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_BACKEND_H
#define MLC_CODEGEN_CUDA_BACKEND_H

#include "codegen/kernel/Backend.h"

namespace mlc::cuda {

/// The back end that prints CUDA C++ and has NVRTC compile it (docs/Cuda.md).
const Backend &getBackend();

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_BACKEND_H
