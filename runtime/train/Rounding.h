//===- Rounding.h - Weights of 16 bits --------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_ROUNDING_H
#define MLC_RUNTIME_TRAIN_ROUNDING_H

#include "runtime/HostTensor.h"

namespace mlc::runtime::train {

/// Rounds the float32 `tensor` to `type`, float16 or bfloat16, to nearest even;
/// a copy if it already has that type.
Status roundTo(mlc_dtype type, const HostTensor &tensor, HostTensor &rounded);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_ROUNDING_H
