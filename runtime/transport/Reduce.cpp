//===- Reduce.cpp - Sums of elements as ranks add them --------------------===//

#include "runtime/transport/Reduce.h"

#include <cmath>
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

struct Sum {
  template <typename T> static T of(T a, T b) { return a + b; }
};
struct Prod {
  template <typename T> static T of(T a, T b) { return a * b; }
};
/// For floats, NaN wins and -0 is less than +0.
struct Max {
  template <typename T> static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (a == b)
        return std::signbit(a) ? b : a;
    return a != a || a > b ? a : b;
  }
};
struct Min {
  template <typename T> static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (a == b)
        return std::signbit(a) ? a : b;
    return a != a || a < b ? a : b;
  }
};

/// Each type loads stored bits and combines two elements.
template <typename T> struct Integer {
  using Stored = T;
  template <typename Op> static T together(T a, T b) {
    if constexpr (std::is_same_v<Op, Sum> || std::is_same_v<Op, Prod>) {
      using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
      return static_cast<T>(Op::of(static_cast<Wide>(a), static_cast<Wide>(b)));
    }
    return Op::of(a, b);
  }
};

template <typename T> struct Float {
  using Stored = T;
  template <typename Op> static T together(T a, T b) {
    T s = Op::of(a, b);
    return s == s ? s : std::numeric_limits<T>::quiet_NaN();
  }
};

struct Half {
  using Stored = uint16_t;
  template <typename Op> static uint16_t together(uint16_t a, uint16_t b) {
    // float32 has 24 bits, 2 * 11 + 2, so that rounding twice is rounding once.
    float s = Op::of(static_cast<float>(fromBits<_Float16>(a)),
                     static_cast<float>(fromBits<_Float16>(b)));
    return s == s ? fromBits<uint16_t>(static_cast<_Float16>(s)) : 0x7e00;
  }
};

struct BFloat {
  using Stored = uint16_t;
  static float widen(uint16_t bits) {
    return fromBits<float>(static_cast<uint32_t>(bits) << 16);
  }
  template <typename Op> static uint16_t together(uint16_t a, uint16_t b) {
    float s = Op::of(widen(a), widen(b));
    if (s != s)
      return 0x7fc0;
    uint32_t bits = fromBits<uint32_t>(s);
    // To nearest, ties to even; the largest ones carry into infinity.
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

/// Works in pieces, since received bytes may be unaligned.
template <typename Op, typename Type>
void combineAll(void *to, const void *from, int64_t elements) {
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
      a[i] = Type::template together<Op>(a[i], b[i]);
    std::memcpy(target, a, n * sizeof(T));
    target += n * sizeof(T);
    source += n * sizeof(T);
    elements -= n;
  }
}

template <typename Op>
void combineType(mlc_dtype type, void *to, const void *from, int64_t elements) {
  switch (type) {
  case MLC_F32:
    return combineAll<Op, Float<float>>(to, from, elements);
  case MLC_F16:
    return combineAll<Op, Half>(to, from, elements);
  case MLC_BF16:
    return combineAll<Op, BFloat>(to, from, elements);
  case MLC_F64:
    return combineAll<Op, Float<double>>(to, from, elements);
  case MLC_I8:
    return combineAll<Op, Integer<int8_t>>(to, from, elements);
  case MLC_U8:
    return combineAll<Op, Integer<uint8_t>>(to, from, elements);
  case MLC_I16:
    return combineAll<Op, Integer<int16_t>>(to, from, elements);
  case MLC_U16:
    return combineAll<Op, Integer<uint16_t>>(to, from, elements);
  case MLC_I32:
    return combineAll<Op, Integer<int32_t>>(to, from, elements);
  case MLC_U32:
    return combineAll<Op, Integer<uint32_t>>(to, from, elements);
  case MLC_I64:
    return combineAll<Op, Integer<int64_t>>(to, from, elements);
  case MLC_U64:
    return combineAll<Op, Integer<uint64_t>>(to, from, elements);
  default:
    return;
  }
}

} // namespace

bool isSummable(mlc_dtype type) {
  return mlc_dtype_size(type) != 0 && type != MLC_BOOL;
}

void add(mlc_dtype type, void *to, const void *from, int64_t elements) {
  combineType<Sum>(type, to, from, elements);
}

void combine(mlc_reduction reduction, mlc_dtype type, void *to,
             const void *from, int64_t elements) {
  switch (reduction) {
  case MLC_SUM:
    return combineType<Sum>(type, to, from, elements);
  case MLC_PROD:
    return combineType<Prod>(type, to, from, elements);
  case MLC_MAX:
    return combineType<Max>(type, to, from, elements);
  case MLC_MIN:
    return combineType<Min>(type, to, from, elements);
  }
}

const char *name(mlc_reduction reduction) {
  static const char *const names[] = {"sum", "max", "min", "prod"};
  return names[reduction];
}

} // namespace mlc::runtime::transport
