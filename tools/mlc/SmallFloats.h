//===- SmallFloats.h - Numbers of 16 bits -----------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SMALLFLOATS_H
#define MLC_TOOLS_MLC_SMALLFLOATS_H

#include "tools/mlc/Tensors.h"

namespace mlc::cli {

/// Whether it is float16 or bfloat16.
inline bool isSmallFloat(mlc_dtype type) {
  return type == MLC_F16 || type == MLC_BF16;
}

/// The number with these bits. `type` is a small float type here and below.
double widen(uint16_t bits, mlc_dtype type);
/// The bits of the nearest number, ties to even.
uint16_t narrow(double number, mlc_dtype type);

/// A tensor of small floats as float32; others unchanged.
llvm::Expected<HostTensor> widened(HostTensor tensor);
/// A float32 tensor rounded to `type`; unchanged if it has that type.
llvm::Expected<HostTensor> narrowed(HostTensor tensor, mlc_dtype type);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SMALLFLOATS_H
