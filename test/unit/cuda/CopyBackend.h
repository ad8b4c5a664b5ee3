//===- CopyBackend.h - Kernels that copy by tensor maps ---------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_CUDA_COPYBACKEND_H
#define MLC_TEST_UNIT_CUDA_COPYBACKEND_H

#include "codegen/kernel/Backend.h"

namespace mlc {

/// CUDA's back end, but each kernel reads its one input, f32[N, 32], and writes
/// twice that by the copy engine.
const Backend &getCopyBackend();

} // namespace mlc

#endif // MLC_TEST_UNIT_CUDA_COPYBACKEND_H
