//===- Feed.h - Inputs of a run ---------------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_FEED_H
#define MLC_TOOLS_MLC_FEED_H

#include "tools/mlc/Model.h"
#include "tools/mlc/ModelOptions.h"
#include "tools/mlc/Tensors.h"

namespace mlc::cli {

/// The dims of `port` where open ones have the sizes in `sizes`. Errors: an
/// open dim without a size (names it and the option that gives one).
llvm::Expected<std::vector<int64_t>> portDims(const mlc_port &port,
                                              llvm::ArrayRef<DimSetting> sizes);

/// One tensor per input of `model`, in order: from the files that `options`
/// names, else at random: indices inside of the dim that they are used along,
/// ones for a mask (by its name). Dims that the model leaves open come from the
/// files or from `sizes`. Errors name the input.
llvm::Expected<std::vector<HostTensor>>
makeFeed(const Model &model, llvm::ArrayRef<DimSetting> sizes,
         const InputOptions &options);

/// Fills with numbers drawn from `seed`: normal for floats, 0 ... 255 (0 or 1
/// for bool) for integers, as far as their type goes.
void fillRandomly(HostTensor &tensor, uint64_t seed);
/// The same with integers from 0 to `end` - 1; zeros where there are none.
void fillBelow(HostTensor &tensor, uint64_t seed, int64_t end);
void fillWithOnes(HostTensor &tensor);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_FEED_H
