//===- Library.cpp - Kernels of the runtime for opaque operators ----------===//

#include "runtime/Library.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

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

/// The number of elements outside and inside the axis.
void split(const LibraryCall &call, int64_t &outer, int64_t &inner) {
  const LibraryOperand &x = call.inputs[0];
  outer = inner = 1;
  for (size_t d = 0; d < x.rank; ++d) {
    if (d < size_t(call.args[0]))
      outer *= x.dims[d];
    if (d > size_t(call.args[0]))
      inner *= x.dims[d];
  }
}

int64_t topkTasks(const LibraryCall &call) {
  int64_t outer, inner;
  split(call, outer, inner);
  return outer * inner;
}

void topkRun(const LibraryCall &call, int64_t begin, int64_t end,
             void *scratch) {
  const LibraryOperand &x = call.inputs[0];
  int64_t axis = call.args[0], outer, inner;
  split(call, outer, inner);
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

//===----------------------------------------------------------------------===//
// scatter_add, scatter_mul, scatter_max, scatter_min
//===----------------------------------------------------------------------===//

float fromHalf(uint16_t bits) {
  uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  float value;
  if (exponent == 0) {
    value = std::ldexp(float(fraction), -24);
  } else {
    exponent = exponent == 0x1f ? 0xff : exponent + 112;
    uint32_t wide = exponent << 23 | fraction << 13;
    std::memcpy(&value, &wide, sizeof value);
  }
  return bits >> 15 ? -value : value;
}

uint16_t toHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  uint16_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00; // no number
  if (magnitude >= 0x477ff000)
    return sign | 0x7c00; // rounds to infinity
  if (magnitude < 0x38800000) {
    // Denormals are multiples of 2^-24; nearbyint rounds halves to even.
    float small = std::nearbyint(std::ldexp(std::fabs(value), 24));
    return sign | uint16_t(small);
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return sign | uint16_t((magnitude - 0x38000000) >> 13);
}

/// Elements stored as `Stored` and accumulated as `T`.
template <typename Stored, typename T> struct Element {
  using Sum = T;
  static Sum load(const Stored &bits) { return bits; }
  static Stored store(Sum value) { return value; }
};
struct HalfElement {
  using Sum = float;
  static float load(uint16_t bits) { return fromHalf(bits); }
  static uint16_t store(float value) { return toHalf(value); }
};
struct BFloatElement {
  using Sum = float;
  static float load(uint16_t bits) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  static uint16_t store(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
      return uint16_t(bits >> 16 | 0x40);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

int64_t indexAt(const LibraryOperand &indices, int64_t at) {
  auto read = [&](auto value) {
    std::memcpy(&value,
                static_cast<const char *>(indices.data) + at * sizeof value,
                sizeof value);
    return int64_t(value);
  };
  switch (indices.type) {
  case DType::I8:
    return read(int8_t());
  case DType::I16:
    return read(int16_t());
  case DType::I32:
    return read(int32_t());
  case DType::U8:
    return read(uint8_t());
  case DType::U16:
    return read(uint16_t());
  case DType::U32:
    return read(uint32_t());
  default: // cast to i64
    return read(int64_t());
  }
}

/// Combines an element with an update.
struct Added {
  static constexpr bool needsSign = false;
  template <typename T> static T of(T x, T y) { return T(x + y); }
};
struct Multiplied {
  static constexpr bool needsSign = false;
  // Short integers would be promoted to int, whose products overflow.
  template <typename T> static T of(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return T(uint64_t(x) * uint64_t(y));
    else
      return x * y;
  }
};
struct Larger {
  static constexpr bool needsSign = true;
  template <typename T> static T of(T x, T y) {
    return x != x ? x : y != y ? y : x < y ? y : x;
  }
};
struct Smaller {
  static constexpr bool needsSign = true;
  template <typename T> static T of(T x, T y) {
    return x != x ? x : y != y ? y : y < x ? y : x;
  }
};

/// How the work is divided: slices of `inner` elements, `extent` of them in
/// each of `outer` boxes, in tasks of `rows`. A task scans all indices, which
/// must not dominate its work.
struct ScatterShape {
  int64_t outer = 1, extent, inner = 1, count = 1, rows, parts, begin, whole;

  explicit ScatterShape(const LibraryCall &call) {
    split(call, outer, inner);
    extent = call.inputs[0].dims[call.args[0]];
    begin = call.args[1];
    whole = call.args[2];
    for (size_t d = 0; d < call.inputs[1].rank; ++d)
      count *= call.inputs[1].dims[d];
    constexpr int64_t enough = 32;
    int64_t wanted =
        outer >= enough ? 1 : std::clamp(inner, int64_t(1), enough);
    rows = std::max((extent + wanted - 1) / wanted, int64_t(1));
    parts = (extent + rows - 1) / rows;
  }
};

Status scatterCheck(const LibraryCall &call) {
  auto bad = [](const char *what) {
    return Status::badFile(std::string("scatter: ") + what);
  };
  if (call.numInputs != 3 || call.numOutputs != 1 || call.numArgs != 3)
    return bad("needs three inputs, one output and three arguments");
  if (call.args[1] < 0 || call.args[2] < 0)
    return bad("has a negative begin or whole");
  const LibraryOperand &x = call.inputs[0], &indices = call.inputs[1],
                       &updates = call.inputs[2], &y = call.outputs[0];
  auto isNoInteger = [](DType type) {
    return type == DType::F16 || type == DType::BF16 || type == DType::F32 ||
           type == DType::F64 || type == DType::Bool;
  };
  if (isNoInteger(indices.type) || updates.type != x.type || y.type != x.type ||
      x.type == DType::Bool)
    return bad("has wrong types");
  if (call.args[0] < 0 || uint64_t(call.args[0]) >= x.rank ||
      y.rank != x.rank || updates.rank + 1 != x.rank + indices.rank)
    return bad("has a wrong rank or axis");
  size_t axis = call.args[0];
  for (size_t d = 0; d < x.rank; ++d)
    if (y.dims[d] != x.dims[d])
      return bad("has wrong dims");
  for (size_t d = 0; d < updates.rank; ++d) {
    int64_t want = d < axis                  ? x.dims[d]
                   : d < axis + indices.rank ? indices.dims[d - axis]
                                             : x.dims[d + 1 - indices.rank];
    if (updates.dims[d] != want)
      return bad("has wrong dims");
  }
  return Status::success();
}

uint64_t scatterScratch(const LibraryCall &call) {
  ScatterShape shape(call);
  bool isHalf = byteSize(call.inputs[0].type) == 2;
  return isHalf ? uint64_t(shape.rows) * shape.inner * sizeof(float) : 0;
}

int64_t scatterTasks(const LibraryCall &call) {
  ScatterShape shape(call);
  return shape.outer * shape.parts;
}

template <typename Combine, typename Stored, typename E>
void scatterPart(const LibraryCall &call, const ScatterShape &shape,
                 int64_t task, void *scratch) {
  using Sum = typename E::Sum;
  int64_t box = task / shape.parts, first = task % shape.parts * shape.rows;
  int64_t end = std::min(first + shape.rows, shape.extent);
  int64_t offset = (box * shape.extent + first) * shape.inner;
  int64_t size = (end - first) * shape.inner;
  const Stored *from =
      static_cast<const Stored *>(call.inputs[0].data) + offset;
  const Stored *updates = static_cast<const Stored *>(call.inputs[2].data) +
                          box * shape.count * shape.inner;
  Stored *to = static_cast<Stored *>(call.outputs[0].data) + offset;
  constexpr bool isDirect = std::is_same_v<Stored, Sum>;
  Sum *sums =
      isDirect ? reinterpret_cast<Sum *>(to) : static_cast<Sum *>(scratch);
  for (int64_t i = 0; i < size; ++i)
    sums[i] = E::load(from[i]);
  for (int64_t j = 0; j < shape.count; ++j) {
    int64_t at = indexAt(call.inputs[1], j);
    at += at < 0 ? shape.whole : 0;
    if (at < 0)
      continue;
    at -= shape.begin;
    if (at < first || at >= end)
      continue;
    Sum *row = sums + (at - first) * shape.inner;
    const Stored *slice = updates + j * shape.inner;
    for (int64_t i = 0; i < shape.inner; ++i)
      row[i] = Combine::of(row[i], E::load(slice[i]));
  }
  if constexpr (!isDirect)
    for (int64_t i = 0; i < size; ++i)
      to[i] = E::store(sums[i]);
}

/// For integers of one size. They wrap, so they are computed as unsigned.
template <typename Combine, typename Signed> auto integerPart(bool isSigned) {
  using Unsigned = std::make_unsigned_t<Signed>;
  if constexpr (Combine::needsSign)
    if (isSigned)
      return scatterPart<Combine, Signed, Element<Signed, Signed>>;
  return scatterPart<Combine, Unsigned, Element<Unsigned, Unsigned>>;
}

template <typename Combine>
void scatterRun(const LibraryCall &call, int64_t begin, int64_t end,
                void *scratch) {
  ScatterShape shape(call);
  auto run = [&](auto part) {
    for (int64_t task = begin; task < end; ++task)
      part(call, shape, task, scratch);
  };
  DType type = call.inputs[0].type;
  switch (type) {
  case DType::F32:
    return run(scatterPart<Combine, float, Element<float, float>>);
  case DType::F64:
    return run(scatterPart<Combine, double, Element<double, double>>);
  case DType::F16:
    return run(scatterPart<Combine, uint16_t, HalfElement>);
  case DType::BF16:
    return run(scatterPart<Combine, uint16_t, BFloatElement>);
  case DType::I8:
  case DType::U8:
    return run(integerPart<Combine, int8_t>(type == DType::I8));
  case DType::I16:
  case DType::U16:
    return run(integerPart<Combine, int16_t>(type == DType::I16));
  case DType::I32:
  case DType::U32:
    return run(integerPart<Combine, int32_t>(type == DType::I32));
  case DType::I64:
  case DType::U64:
    return run(integerPart<Combine, int64_t>(type == DType::I64));
  case DType::Bool:
    return; // the check refuses it
  }
}

template <typename Combine> constexpr LibraryKernel scatter(const char *key) {
  return {key, scatterCheck, scatterScratch, scatterTasks, scatterRun<Combine>};
}

const LibraryKernel table[] = {
    {"topk", topkCheck, topkScratch, topkTasks, topkRun},
    scatter<Added>("scatter_add"),
    scatter<Multiplied>("scatter_mul"),
    scatter<Larger>("scatter_max"),
    scatter<Smaller>("scatter_min"),
};

} // namespace

const LibraryKernel *findLibraryKernel(const std::string &key) {
  for (const LibraryKernel &kernel : table)
    if (key == kernel.key)
      return &kernel;
  return nullptr;
}

} // namespace mlc::runtime
