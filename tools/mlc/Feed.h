//===- Feed.h - Inputs of a run ---------------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_FEED_H
#define MLC_TOOLS_MLC_FEED_H

#include "tools/mlc/Model.h"
#include "tools/mlc/ModelOptions.h"
#include "tools/mlc/Tensors.h"

namespace mlc::cli {

/// The dims of `port`, with `sizes` for open ones. Fails for an open dim
/// without a size (names it and the option that sets it).
llvm::Expected<std::vector<int64_t>> portDims(const mlc_port &port,
                                              llvm::ArrayRef<DimSetting> sizes);

/// One tensor per input of `model`, in order, from the files in `options` or
/// random. Random indices lie within the dim that they index; a mask (by its
/// name) is all ones. Open dims come from the files or from `sizes`. Errors
/// name the input.
llvm::Expected<std::vector<HostTensor>>
makeFeed(const Model &model, llvm::ArrayRef<DimSetting> sizes,
         const InputOptions &options);

/// Fills with random numbers of `seed`: normally distributed floats, integers
/// of 0 ... 255 within their type, 0 or 1 for bool.
void fillRandomly(HostTensor &tensor, uint64_t seed);
/// The same with integers from 0 to `end` - 1; zeros if `end` is not positive.
void fillBelow(HostTensor &tensor, uint64_t seed, int64_t end);
void fillWithOnes(HostTensor &tensor);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_FEED_H
