//===- Sample.cpp - Elements with known results ---------------------------===//

#include "runtime/transport/Sample.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime::transport {

/// At most 33 ranks have a nonzero element, up to 7, at one place, so that the
/// sum is exact in bfloat16, which holds integers up to 256.
static int sample(const Request &request, int rank, int64_t i) {
  const int count = workers(request);
  if (rank >= count)
    return 0;
  if (request.reduction == MLC_PROD)
    return (rank + i) % 3 == 0 ? 2 : 1;
  const int64_t every = (count + 31) / 32;
  return (rank + i) % every ? 0 : static_cast<int>((rank * 3 + i * 5) % 7 + 1);
}

static int reduced(const Request &request, int64_t i) {
  int result = sample(request, 0, i);
  for (int rank = 1; rank < workers(request); ++rank) {
    const int next = sample(request, rank, i);
    switch (request.reduction) {
    case MLC_SUM:
      result += next;
      break;
    case MLC_MAX:
      result = std::max(result, next);
      break;
    case MLC_MIN:
      result = std::min(result, next);
      break;
    case MLC_PROD:
      result *= next;
      break;
    }
  }
  return result;
}

void storeNumber(mlc_dtype type, char *at, int number) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  const auto single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof(bits));
  switch (type) {
  case MLC_F32:
    return put(single);
  case MLC_F64:
    return put(static_cast<double>(number));
  case MLC_F16:
    return put(static_cast<_Float16>(number));
  case MLC_BF16:
    return put(static_cast<uint16_t>(bits >> 16));
  default: {
    // Integers of any width, little-endian.
    const auto wide = static_cast<int64_t>(number);
    std::memcpy(at, &wide, mlc_dtype_size(type));
  }
  }
}

void fillSample(const Request &request, mlc_dtype type, int rank, void *data) {
  auto *at = static_cast<char *>(data);
  for (int64_t i = 0; i < request.elements; ++i, at += mlc_dtype_size(type))
    storeNumber(type, at, sample(request, rank, i));
}

namespace {

/// Compares elements from `at` on with the numbers of `numberOf`.
class Comparison {
public:
  Comparison(mlc_dtype type, const void *data)
      : type(type), size(mlc_dtype_size(type)),
        data(static_cast<const char *>(data)) {}

  template <typename Number>
  void range(int64_t begin, int64_t length, Number numberOf) {
    char want[8];
    for (int64_t i = 0; i < length && right; ++i) {
      storeNumber(type, want, numberOf(i));
      right = !std::memcmp(data + (begin + i) * size, want, size);
    }
  }

  bool right = true;

private:
  mlc_dtype type;
  size_t size;
  const char *data;
};

} // namespace

bool isRight(const Request &request, mlc_dtype type, int rank,
             const void *data) {
  Comparison comparison(type, data);
  const rows::Row &row = rowOf(request.collective);
  auto expected = [&](int from, int64_t i) {
    return row.reduces()
               ? reduced(request, i)
               : sample(request, row.hasRoot() ? request.root : from, i);
  };
  if (row.message == rows::Elements) {
    comparison.range(0, request.elements,
                     [&](int64_t i) { return expected(rank, i); });
    return comparison.right;
  }
  const bool isAllToAll = row.message == rows::Blocks;
  const std::vector<int64_t> parts =
      isAllToAll ? receivedParts(request, rank) : partsOf(request, rank);
  int64_t begin = 0;
  for (int part = 0; part < request.ranks; begin += parts[part++]) {
    if (row.output == rows::Part && part != rank)
      continue;
    int64_t from = begin; // its offset at the sending rank
    if (isAllToAll) {
      const std::vector<int64_t> sent = partsOf(request, part);
      from = 0;
      for (int before = 0; before < rank; ++before)
        from += sent[before];
    }
    comparison.range(begin, parts[part],
                     [&](int64_t i) { return expected(part, from + i); });
  }
  return comparison.right;
}

} // namespace mlc::runtime::transport
