//===- Reduce.cpp - Sums of elements as ranks add them --------------------===//

#include "runtime/transport/Reduce.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace mlc::runtime::transport {

namespace {

template <typename T, typename Bits> T fromBits(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Each holds bits as they are stored, and says what the sum of two is.
template <typename T> struct Integer {
  using Stored = T;
  static T sum(T a, T b) {
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  }
};

template <typename T> struct Float {
  using Stored = T;
  static T sum(T a, T b) {
    T s = a + b;
    return s == s ? s : std::numeric_limits<T>::quiet_NaN();
  }
};

struct Half {
  using Stored = uint16_t;
  static uint16_t sum(uint16_t a, uint16_t b) {
    // float32 has 24 bits, 2 * 11 + 2, so that rounding twice is rounding once.
    float s = static_cast<float>(fromBits<_Float16>(a)) +
              static_cast<float>(fromBits<_Float16>(b));
    return s == s ? fromBits<uint16_t>(static_cast<_Float16>(s)) : 0x7e00;
  }
};

struct BFloat {
  using Stored = uint16_t;
  static float widen(uint16_t bits) {
    return fromBits<float>(static_cast<uint32_t>(bits) << 16);
  }
  static uint16_t sum(uint16_t a, uint16_t b) {
    float s = widen(a) + widen(b);
    if (s != s)
      return 0x7fc0;
    uint32_t bits = fromBits<uint32_t>(s);
    // To nearest, ties to even; the largest ones carry into infinity.
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

/// Piecewise, because received bytes may lie at any address.
template <typename Type>
void addAll(void *to, const void *from, int64_t elements) {
  using T = typename Type::Stored;
  constexpr int64_t most = 256;
  T a[most], b[most];
  auto *target = static_cast<char *>(to);
  auto *source = static_cast<const char *>(from);
  while (elements > 0) {
    const int64_t n = elements < most ? elements : most;
    std::memcpy(a, target, n * sizeof(T));
    std::memcpy(b, source, n * sizeof(T));
    for (int64_t i = 0; i < n; ++i)
      a[i] = Type::sum(a[i], b[i]);
    std::memcpy(target, a, n * sizeof(T));
    target += n * sizeof(T);
    source += n * sizeof(T);
    elements -= n;
  }
}

} // namespace

bool isSummable(mlc_dtype type) {
  return mlc_dtype_size(type) != 0 && type != MLC_BOOL;
}

void add(mlc_dtype type, void *to, const void *from, int64_t elements) {
  switch (type) {
  case MLC_F32:
    return addAll<Float<float>>(to, from, elements);
  case MLC_F16:
    return addAll<Half>(to, from, elements);
  case MLC_BF16:
    return addAll<BFloat>(to, from, elements);
  case MLC_F64:
    return addAll<Float<double>>(to, from, elements);
  case MLC_I8:
  case MLC_U8:
    return addAll<Integer<uint8_t>>(to, from, elements);
  case MLC_I16:
  case MLC_U16:
    return addAll<Integer<uint16_t>>(to, from, elements);
  case MLC_I32:
  case MLC_U32:
    return addAll<Integer<uint32_t>>(to, from, elements);
  case MLC_I64:
  case MLC_U64:
    return addAll<Integer<uint64_t>>(to, from, elements);
  default:
    return;
  }
}

} // namespace mlc::runtime::transport
