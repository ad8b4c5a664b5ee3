//===- Difference.cpp - How far two tensors are apart ---------------------===//

#include "tools/mlc/Difference.h"
#include "tools/mlc/SmallFloats.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc::cli;

template <typename T> static double load(const void *data, size_t index) {
  return static_cast<double>(static_cast<const T *>(data)[index]);
}

static double element(mlc_dtype type, const void *data, size_t i) {
  switch (type) {
  case MLC_F32:
    return load<float>(data, i);
  case MLC_F64:
    return load<double>(data, i);
  case MLC_F16:
  case MLC_BF16:
    return widen(static_cast<const uint16_t *>(data)[i], type);
  case MLC_I8:
    return load<int8_t>(data, i);
  case MLC_I16:
    return load<int16_t>(data, i);
  case MLC_I32:
    return load<int32_t>(data, i);
  case MLC_I64:
    return load<int64_t>(data, i);
  case MLC_U8:
  case MLC_BOOL:
    return load<uint8_t>(data, i);
  case MLC_U16:
    return load<uint16_t>(data, i);
  case MLC_U32:
    return load<uint32_t>(data, i);
  case MLC_U64:
    return load<uint64_t>(data, i);
  }
  return 0;
}

static std::string typeText(mlc_dtype type, llvm::ArrayRef<int64_t> dims) {
  std::string text = mlc_dtype_name(type);
  text += '[';
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + ']';
}

/// The index vector of element `flat`.
static std::vector<int64_t> unflatten(size_t flat,
                                      llvm::ArrayRef<int64_t> dims) {
  std::vector<int64_t> at(dims.size());
  for (size_t i = dims.size(); i-- > 0; flat /= dims[i])
    at[i] = flat % dims[i];
  return at;
}

Difference mlc::cli::difference(const mlc_tensor &got, const HostTensor &want) {
  llvm::ArrayRef<int64_t> dims(got.dims, got.rank);
  if (got.type != want.type || dims != llvm::ArrayRef<int64_t>(want.dims)) {
    Difference result;
    result.mismatch = typeText(got.type, dims) + " instead of " +
                      typeText(want.type, want.dims);
    result.error = std::numeric_limits<double>::infinity();
    return result;
  }
  const size_t count = want.bytes / mlc_dtype_size(want.type);
  double scale = 0, largest = 0;
  size_t where = 0;
  for (size_t i = 0; i < count; ++i) {
    double w = element(want.type, want.data.get(), i);
    double g = element(got.type, got.data, i);
    if (std::isfinite(w))
      scale = std::max(scale, std::abs(w));
    double error = std::abs(g - w);
    if (!std::isfinite(w) || !std::isfinite(g))
      error = g == w || (std::isnan(g) && std::isnan(w))
                  ? 0
                  : std::numeric_limits<double>::infinity();
    if (error > largest) {
      largest = error;
      where = i;
    }
  }
  Difference result;
  result.error = largest == 0 ? 0 : largest / (scale > 0 ? scale : 1);
  if (count > 0) {
    result.at = unflatten(where, dims);
    result.got = element(got.type, got.data, where);
    result.want = element(want.type, want.data.get(), where);
  }
  return result;
}

double mlc::cli::defaultTolerance(mlc_dtype type, bool isTF32) {
  switch (type) {
  case MLC_F64:
    return 1e-9;
  case MLC_F32:
    return isTF32 ? 1e-2 : 1e-4;
  case MLC_F16:
    return 5e-3;
  case MLC_BF16:
    return 4e-2;
  default:
    return 0;
  }
}
