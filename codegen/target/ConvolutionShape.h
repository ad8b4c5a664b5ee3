//===- ConvolutionShape.h - Sizes of a convolution --------------*- C++ -*-===//

#ifndef MLC_CODEGEN_TARGET_CONVOLUTIONSHAPE_H
#define MLC_CODEGEN_TARGET_CONVOLUTIONSHAPE_H

#include <compare>
#include <cstdint>
#include <functional>

namespace mlc {

/// The facts about a 2-D convolution that the choice of an algorithm needs.
/// Channels are those of all groups, and multiples of `groups`.
struct ConvolutionShape {
  int64_t outputChannels = 1, inputChannels = 1, groups = 1;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t dilationHeight = 1, dilationWidth = 1;
  /// Sizes of the result; 0 for one that is open.
  int64_t height = 0, width = 0;
  /// Computed in float32, as convolutions of smaller floats are too.
  bool float32 = true;
  /// The filter is known when the model is compiled.
  bool hasConstantFilter = true;

  auto operator<=>(const ConvolutionShape &) const = default;
};

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_CONVOLUTIONSHAPE_H
