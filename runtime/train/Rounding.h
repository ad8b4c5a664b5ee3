//===- Rounding.h - Weights of 16 bits --------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_ROUNDING_H
#define MLC_RUNTIME_TRAIN_ROUNDING_H

#include "runtime/HostTensor.h"

namespace mlc::runtime::train {

/// `tensor`, of float32, with each number the nearest of `type`, float16 or
/// bfloat16, of two the even one; as it is where that is its own type.
Status roundTo(mlc_dtype type, const HostTensor &tensor, HostTensor &rounded);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_ROUNDING_H
