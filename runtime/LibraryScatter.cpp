//===- LibraryScatter.cpp - Kernels of the library that scatter -----------===//

#include "runtime/LibraryFamilies.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace mlc::runtime {

namespace {

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
    splitAxis(call, outer, inner);
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

} // namespace

/// scatter_add(X, Indices, Updates) -> (Y); arguments: axis, begin, whole.
///   X with each slice of Updates added at its index along `axis`; slices of
///   equal index are added in order. X holds the slices from `begin` on of
///   `whole` ones: negative indices count from the end of the whole, and
///   indices outside of X are ignored. Half floats are added in float32 and
///   rounded once. All types but bool.
/// scatter_mul, scatter_max, scatter_min: the same with product, maximum and
///   minimum; NaN wins.
const LibraryKernel scatterKernels[] = {
    scatter<Added>("scatter_add"),
    scatter<Multiplied>("scatter_mul"),
    scatter<Larger>("scatter_max"),
    scatter<Smaller>("scatter_min"),
    {},
};

} // namespace mlc::runtime
