//===- Rounding.cpp - Weights of 16 bits ----------------------------------===//

#include "runtime/train/Rounding.h"

#include <cstring>

using namespace mlc::runtime;

static uint16_t toHalf(float value) {
  if (value != value)
    return 0x7e00;
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

static uint16_t toBFloat(float value) {
  if (value != value)
    return 0x7fc0;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  // The largest numbers carry into infinity.
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Status train::roundTo(mlc_dtype type, const HostTensor &tensor,
                      HostTensor &rounded) {
  if (tensor.type == type) {
    rounded = tensor;
    return Status::success();
  }
  Status status = HostTensor::zeros(type, tensor.dims, rounded);
  if (!status.ok())
    return status;
  const float *from = tensor.as<float>();
  uint16_t *to = rounded.as<uint16_t>();
  for (size_t i = 0; i < tensor.elements(); ++i)
    to[i] = type == MLC_F16 ? toHalf(from[i]) : toBFloat(from[i]);
  return Status::success();
}
