//===- SmallFloats.cpp - Numbers of 16 bits -------------------------------===//

#include "tools/mlc/SmallFloats.h"
#include "llvm/ADT/APFloat.h"

using namespace mlc::cli;

static const llvm::fltSemantics &semanticsOf(mlc_dtype type) {
  return type == MLC_F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

double mlc::cli::widen(uint16_t bits, mlc_dtype type) {
  return llvm::APFloat(semanticsOf(type), llvm::APInt(16, bits))
      .convertToDouble();
}

uint16_t mlc::cli::narrow(double value, mlc_dtype type) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven,
                 &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

llvm::Expected<HostTensor> mlc::cli::widened(HostTensor tensor) {
  if (!isSmallFloat(tensor.type))
    return tensor;
  auto wide = makeZeros(MLC_F32, tensor.dims);
  if (!wide)
    return wide;
  auto *from = reinterpret_cast<const uint16_t *>(tensor.data.get());
  auto *to = reinterpret_cast<float *>(wide->data.get());
  for (size_t i = 0; i < tensor.bytes / sizeof(*from); ++i)
    to[i] = float(widen(from[i], tensor.type));
  return wide;
}

llvm::Expected<HostTensor> mlc::cli::narrowed(HostTensor tensor,
                                              mlc_dtype type) {
  if (tensor.type == type)
    return tensor;
  auto small = makeZeros(type, tensor.dims);
  if (!small)
    return small;
  auto *from = reinterpret_cast<const float *>(tensor.data.get());
  auto *to = reinterpret_cast<uint16_t *>(small->data.get());
  for (size_t i = 0; i < tensor.bytes / sizeof(*from); ++i)
    to[i] = narrow(from[i], type);
  return small;
}
