//===- ChannelsLast.h - What a layout is worth to convolutions --*- C++ -*-===//
//
// Tensor cores take factors by vectors of 16 bytes (Contraction.h). In ONNX's
// layout, neighbours along K are pixels of a window, which are cut by pads and
// strides, so each element is read by itself. With channels last, neighbours
// along K are channels, and every pixel has a run of them.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_CHANNELSLAST_H
#define MLC_CODEGEN_CUDA_CHANNELSLAST_H

#include "codegen/kernel/Backend.h"

namespace mlc::cuda {

/// Whether kernels for `target` compute products on tensor cores.
bool hasTensorCores(const Target &target);

/// Backend::getConvolutionLayout.
ConvolutionLayout convolutionLayout(const Target &target);

/// Backend::getChannelsLastGain, estimated: the time of the instructions that
/// read elements one by one, and what warpgroups save where only they can read
/// the pixels then.
double channelsLastGain(const ImageConvolution &convolution,
                        const Target &target, Precision precision);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_CHANNELSLAST_H
