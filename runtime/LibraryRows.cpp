//===- LibraryRows.cpp - Kernels of the library that order rows -----------===//

#include "runtime/LibraryFamilies.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

namespace {

/// Maps an element to an unsigned number with the same order. For floats, -0
/// equals +0, and every NaN comes last.
template <typename Bits>
uint64_t floatKey(const void *data, int64_t at, Bits infinity) {
  Bits bits;
  std::memcpy(&bits, static_cast<const char *>(data) + at * sizeof(Bits),
              sizeof(Bits));
  constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  Bits magnitude = bits & Bits(~sign);
  if (magnitude > infinity)
    return UINT64_MAX;
  return bits & sign ? uint64_t(sign) - magnitude : uint64_t(sign) + magnitude;
}

template <typename T> uint64_t intKey(const void *data, int64_t at) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + at * sizeof(T),
              sizeof(T));
  if (T(-1) > T(0))
    return uint64_t(value);
  return uint64_t(int64_t(value)) ^ (uint64_t(1) << 63);
}

uint64_t orderKey(DType type, const void *data, int64_t at) {
  switch (type) {
  case DType::F32:
    return floatKey<uint32_t>(data, at, 0x7f800000);
  case DType::F16:
    return floatKey<uint16_t>(data, at, 0x7c00);
  case DType::BF16:
    return floatKey<uint16_t>(data, at, 0x7f80);
  case DType::F64:
    return floatKey<uint64_t>(data, at, uint64_t(0x7ff) << 52);
  case DType::I8:
    return intKey<int8_t>(data, at);
  case DType::I16:
    return intKey<int16_t>(data, at);
  case DType::I32:
    return intKey<int32_t>(data, at);
  case DType::I64:
    return intKey<int64_t>(data, at);
  case DType::U8:
  case DType::Bool:
    return intKey<uint8_t>(data, at);
  case DType::U16:
    return intKey<uint16_t>(data, at);
  case DType::U32:
    return intKey<uint32_t>(data, at);
  case DType::U64:
    return intKey<uint64_t>(data, at);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// topk
//===----------------------------------------------------------------------===//

struct Ranked {
  uint64_t key;
  int64_t index;
};

Status topkCheck(const LibraryCall &call) {
  auto bad = [](const char *what) {
    return Status::badFile(std::string("topk: ") + what);
  };
  if (call.numInputs != 1 || call.numOutputs != 2 || call.numArgs != 2)
    return bad("needs one input, two outputs and two arguments");
  const LibraryOperand &x = call.inputs[0], &values = call.outputs[0],
                       &indices = call.outputs[1];
  if (values.type != x.type || indices.type != DType::I64)
    return bad("has wrong types");
  if (values.rank != x.rank || indices.rank != x.rank || call.args[0] < 0 ||
      uint64_t(call.args[0]) >= x.rank)
    return bad("has a wrong rank or axis");
  for (size_t d = 0; d < x.rank; ++d) {
    if (values.dims[d] != indices.dims[d] ||
        (d != size_t(call.args[0]) && values.dims[d] != x.dims[d]))
      return bad("has wrong dims");
  }
  int64_t k = values.dims[call.args[0]], n = x.dims[call.args[0]];
  if (k > n)
    return Status::error(MLC_USAGE, "topk: k = " + std::to_string(k) +
                                        " is more than the " +
                                        std::to_string(n) + " elements");
  return Status::success();
}

uint64_t topkScratch(const LibraryCall &call) {
  return uint64_t(call.inputs[0].dims[call.args[0]]) * sizeof(Ranked);
}

int64_t topkTasks(const LibraryCall &call) {
  int64_t outer, inner;
  splitAxis(call, outer, inner);
  return outer * inner;
}

void topkRun(const LibraryCall &call, int64_t begin, int64_t end,
             void *scratch) {
  const LibraryOperand &x = call.inputs[0];
  int64_t axis = call.args[0], outer, inner;
  splitAxis(call, outer, inner);
  int64_t n = x.dims[axis], k = call.outputs[0].dims[axis];
  uint64_t flip = call.args[1] ? 0 : UINT64_MAX;
  size_t bytes = byteSize(x.type);
  auto *ranked = static_cast<Ranked *>(scratch);
  const char *from = static_cast<const char *>(x.data);
  char *values = static_cast<char *>(call.outputs[0].data);
  auto *indices = static_cast<int64_t *>(call.outputs[1].data);
  for (int64_t row = begin; row < end; ++row) {
    int64_t o = row / inner, i = row % inner;
    for (int64_t j = 0; j < n; ++j)
      ranked[j] = {orderKey(x.type, from, (o * n + j) * inner + i) ^ flip, j};
    std::partial_sort(
        ranked, ranked + k, ranked + n, [](const Ranked &a, const Ranked &b) {
          return a.key != b.key ? a.key > b.key : a.index < b.index;
        });
    for (int64_t j = 0; j < k; ++j) {
      int64_t to = (o * k + j) * inner + i;
      std::memcpy(values + to * bytes,
                  from + ((o * n + ranked[j].index) * inner + i) * bytes,
                  bytes);
      indices[to] = ranked[j].index;
    }
  }
}

} // namespace

/// topk(X) -> (Values, Indices: i64); arguments: axis, largest (0 or 1).
///   The k = dim `axis` of Values largest (smallest) elements of X along
///   `axis`, best first, ties by the lower index; a NaN counts as larger
///   than any number. All types.
const LibraryKernel rowKernels[] = {
    {"topk", topkCheck, topkScratch, topkTasks, topkRun},
    {},
};

} // namespace mlc::runtime
