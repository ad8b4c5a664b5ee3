//===- AlongK.h - Constant factors with neighbours along K ------*- C++ -*-===//
//
// Products of warpgroups read factors of float32 only if neighbours in memory
// lie along K (kernels/wgmma.cuh). A constant factor of another order is stored
// in this one when the kernel is compiled: the argument then has the form
// "along-k" (exec.inverse_transform).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_ALONGK_H
#define MLC_CODEGEN_CUDA_ALONGK_H

#include "codegen/cuda/Contraction.h"

namespace mlc::cuda {

/// The form of an argument of `kernel` with which warpgroups can compute it, if
/// they cannot without.
std::optional<ConstantTransform> findAlongK(const Kernel &kernel,
                                            const EmitOptions &options);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_ALONGK_H
