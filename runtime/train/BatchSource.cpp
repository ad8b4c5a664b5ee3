//===- BatchSource.cpp - Where batches come from --------------------------===//

#include "runtime/train/BatchSource.h"

#include <algorithm>
#include <cmath>

using namespace mlc::runtime;

template <typename Predicate>
static int64_t scan(size_t begin, size_t count, Predicate isWrong) {
  for (size_t i = begin; i < begin + count; ++i)
    if (isWrong(i))
      return int64_t(i);
  return -1;
}

int64_t train::findNotFinite(const HostTensor &tensor, size_t begin,
                             size_t count, bool isNaN) {
  // Infinity has an exponent of all ones; NaN is larger.
  auto isSmall = [&](size_t i, unsigned exponent) {
    unsigned bits = tensor.as<uint16_t>()[i];
    return (bits & exponent) == exponent &&
           (!isNaN || (bits & 0x7fff) != exponent);
  };
  auto isOdd = [&](double number) {
    return isNaN ? std::isnan(number) : !std::isfinite(number);
  };
  switch (tensor.type) {
  case MLC_F32:
    return scan(begin, count,
                [&](size_t i) { return isOdd(tensor.as<float>()[i]); });
  case MLC_F64:
    return scan(begin, count,
                [&](size_t i) { return isOdd(tensor.as<double>()[i]); });
  case MLC_F16:
    return scan(begin, count, [&](size_t i) { return isSmall(i, 0x7c00); });
  case MLC_BF16:
    return scan(begin, count, [&](size_t i) { return isSmall(i, 0x7f80); });
  default:
    return -1;
  }
}

int64_t train::countNotNegative(const int64_t *labels, size_t count) {
  return std::count_if(labels, labels + count,
                       [](int64_t label) { return label >= 0; });
}
