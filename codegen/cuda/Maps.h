//===- Maps.h - Whether tensors can have maps -------------------*- C++ -*-===//
//
// A skeleton that copies by the copy engine (runtime/TensorMap.h) has to know
// that the driver will make its maps, since a launch has no other way then.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_MAPS_H
#define MLC_CODEGEN_CUDA_MAPS_H

#include "codegen/kernel/Backend.h"

namespace mlc::cuda {

/// Why `map`, of an operand whose memory begins at a multiple of 16 bytes, may
/// not be possible for some values of the symbols; empty if it is proved for
/// all. Sizes that are not known are taken to be within the driver's limits
/// (2^32 elements along a dim, strides below 2^40 bytes, a pixel between the
/// corners): a launch with others ends with an error that says so.
std::string whyNotMappable(const KernelMap &map);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_MAPS_H
