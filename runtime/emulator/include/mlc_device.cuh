//===- mlc_device.cuh - What kernels use, in C++ ----------------*- C++ -*-===//
//
// The emulator's header of this name: each function behaves like its
// counterpart in codegen/cuda/kernels/mlc_device.cuh. CUDA's extensions of C++
// come first. Kernels include no other header, so that a compilation takes a
// tenth of a second.
//
// Functions of the emulator take and return values, never addresses of a
// kernel's variables: an escaped address would make the sanitizer check each
// use of the variable.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DEVICE_CUH
#define MLC_DEVICE_CUH

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef __SIZE_TYPE__ size_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)

//===----------------------------------------------------------------------===//
// The language
//===----------------------------------------------------------------------===//

// Only kernels can be found by name; everything else has hidden visibility.
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __constant__
// Drop __restrict__, so that the compiler keeps no value in registers across a
// barrier.
#define __restrict__
#define __restrict

struct uint3 {
  unsigned x, y, z;
};
typedef uint3 dim3;

// A thread's indices do not change, so the compiler may load them once.
#define MLC_EMULATOR_PLACE extern "C" __attribute__((const, nothrow))
MLC_EMULATOR_PLACE uint3 mlcEmulatorThreadIdx();
MLC_EMULATOR_PLACE uint3 mlcEmulatorBlockIdx();
MLC_EMULATOR_PLACE uint3 mlcEmulatorBlockDim();
MLC_EMULATOR_PLACE uint3 mlcEmulatorGridDim();
MLC_EMULATOR_PLACE uint8_t *mlcEmulatorSharedMemory();
#undef MLC_EMULATOR_PLACE
#define threadIdx (mlcEmulatorThreadIdx())
#define blockIdx (mlcEmulatorBlockIdx())
#define blockDim (mlcEmulatorBlockDim())
#define gridDim (mlcEmulatorGridDim())
static const int warpSize = 32;

//===----------------------------------------------------------------------===//
// CUDA's math functions
//===----------------------------------------------------------------------===//

#define MLC_EMULATOR_INLINE static inline __attribute__((always_inline))

MLC_EMULATOR_INLINE float __int_as_float(int x) {
  return __builtin_bit_cast(float, x);
}
MLC_EMULATOR_INLINE float __uint_as_float(unsigned x) {
  return __builtin_bit_cast(float, x);
}
MLC_EMULATOR_INLINE int __float_as_int(float x) {
  return __builtin_bit_cast(int, x);
}
MLC_EMULATOR_INLINE unsigned __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned, x);
}
MLC_EMULATOR_INLINE long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
MLC_EMULATOR_INLINE double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}

// Each is CUDA's `NAMEf(float)`, `NAME(double)` and `NAME(float)`.
#define MLC_EMULATOR_UNARY(name)                                               \
  extern "C" double name(double) noexcept;                                     \
  extern "C" float name##f(float) noexcept;                                    \
  MLC_EMULATOR_INLINE float name(float x) { return name##f(x); }
#define MLC_EMULATOR_BINARY(name)                                              \
  extern "C" double name(double, double) noexcept;                             \
  extern "C" float name##f(float, float) noexcept;                             \
  MLC_EMULATOR_INLINE float name(float x, float y) { return name##f(x, y); }
MLC_EMULATOR_UNARY(acos)
MLC_EMULATOR_UNARY(acosh)
MLC_EMULATOR_UNARY(asin)
MLC_EMULATOR_UNARY(asinh)
MLC_EMULATOR_UNARY(atan)
MLC_EMULATOR_UNARY(atanh)
MLC_EMULATOR_UNARY(cbrt)
MLC_EMULATOR_UNARY(ceil)
MLC_EMULATOR_UNARY(cos)
MLC_EMULATOR_UNARY(cosh)
MLC_EMULATOR_UNARY(erf)
MLC_EMULATOR_UNARY(erfc)
MLC_EMULATOR_UNARY(exp)
MLC_EMULATOR_UNARY(exp10)
MLC_EMULATOR_UNARY(exp2)
MLC_EMULATOR_UNARY(expm1)
MLC_EMULATOR_UNARY(fabs)
MLC_EMULATOR_UNARY(floor)
MLC_EMULATOR_UNARY(lgamma)
MLC_EMULATOR_UNARY(log)
MLC_EMULATOR_UNARY(log10)
MLC_EMULATOR_UNARY(log1p)
MLC_EMULATOR_UNARY(log2)
MLC_EMULATOR_UNARY(nearbyint)
MLC_EMULATOR_UNARY(rint)
MLC_EMULATOR_UNARY(round)
MLC_EMULATOR_UNARY(sin)
MLC_EMULATOR_UNARY(sinh)
MLC_EMULATOR_UNARY(sqrt)
MLC_EMULATOR_UNARY(tan)
MLC_EMULATOR_UNARY(tanh)
MLC_EMULATOR_UNARY(tgamma)
MLC_EMULATOR_UNARY(trunc)
MLC_EMULATOR_BINARY(atan2)
MLC_EMULATOR_BINARY(copysign)
MLC_EMULATOR_BINARY(fmax)
MLC_EMULATOR_BINARY(fmin)
MLC_EMULATOR_BINARY(fmod)
MLC_EMULATOR_BINARY(hypot)
MLC_EMULATOR_BINARY(nextafter)
MLC_EMULATOR_BINARY(pow)
MLC_EMULATOR_BINARY(remainder)
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double fma(double, double, double) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double ldexp(double, int) noexcept;
MLC_EMULATOR_INLINE float fma(float x, float y, float z) {
  return fmaf(x, y, z);
}
MLC_EMULATOR_INLINE float ldexp(float x, int e) { return ldexpf(x, e); }
MLC_EMULATOR_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
MLC_EMULATOR_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
MLC_EMULATOR_INLINE float __expf(float x) { return expf(x); }
MLC_EMULATOR_INLINE float __logf(float x) { return logf(x); }
MLC_EMULATOR_INLINE float __fdividef(float x, float y) { return x / y; }
MLC_EMULATOR_INLINE float __fmul_rn(float x, float y) { return x * y; }
MLC_EMULATOR_INLINE float __fadd_rn(float x, float y) { return x + y; }
MLC_EMULATOR_INLINE float __fsub_rn(float x, float y) { return x - y; }
MLC_EMULATOR_INLINE float __fdiv_rn(float x, float y) { return x / y; }
MLC_EMULATOR_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
MLC_EMULATOR_INLINE float __frcp_rn(float x) { return 1.0f / x; }
MLC_EMULATOR_INLINE float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
MLC_EMULATOR_INLINE double __dmul_rn(double x, double y) { return x * y; }
MLC_EMULATOR_INLINE double __dadd_rn(double x, double y) { return x + y; }
MLC_EMULATOR_INLINE double __fma_rn(double x, double y, double z) {
  return fma(x, y, z);
}

MLC_EMULATOR_INLINE bool isnan(float x) { return __builtin_isnan(x); }
MLC_EMULATOR_INLINE bool isnan(double x) { return __builtin_isnan(x); }
MLC_EMULATOR_INLINE bool isinf(float x) { return __builtin_isinf(x); }
MLC_EMULATOR_INLINE bool isinf(double x) { return __builtin_isinf(x); }
MLC_EMULATOR_INLINE bool isfinite(float x) { return __builtin_isfinite(x); }
MLC_EMULATOR_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
MLC_EMULATOR_INLINE bool signbit(float x) { return __builtin_signbit(x); }
MLC_EMULATOR_INLINE bool signbit(double x) { return __builtin_signbit(x); }

#define MLC_EMULATOR_LEAST_AND_GREATEST(type)                                  \
  MLC_EMULATOR_INLINE type min(type x, type y) { return y < x ? y : x; }       \
  MLC_EMULATOR_INLINE type max(type x, type y) { return x < y ? y : x; }
MLC_EMULATOR_LEAST_AND_GREATEST(int)
MLC_EMULATOR_LEAST_AND_GREATEST(unsigned)
MLC_EMULATOR_LEAST_AND_GREATEST(long)
MLC_EMULATOR_LEAST_AND_GREATEST(unsigned long)
MLC_EMULATOR_LEAST_AND_GREATEST(long long)
MLC_EMULATOR_LEAST_AND_GREATEST(unsigned long long)
MLC_EMULATOR_INLINE float min(float x, float y) { return fminf(x, y); }
MLC_EMULATOR_INLINE float max(float x, float y) { return fmaxf(x, y); }
MLC_EMULATOR_INLINE double min(double x, double y) { return fmin(x, y); }
MLC_EMULATOR_INLINE double max(double x, double y) { return fmax(x, y); }
extern "C" int abs(int) noexcept;
extern "C" long long llabs(long long) noexcept;
MLC_EMULATOR_INLINE long long abs(long long x) { return llabs(x); }
MLC_EMULATOR_INLINE float abs(float x) { return fabsf(x); }
MLC_EMULATOR_INLINE double abs(double x) { return fabs(x); }
MLC_EMULATOR_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
MLC_EMULATOR_INLINE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
MLC_EMULATOR_INLINE unsigned __umulhi(unsigned x, unsigned y) {
  return unsigned((uint64_t(x) * y) >> 32);
}
MLC_EMULATOR_INLINE uint64_t __umul64hi(uint64_t x, uint64_t y) {
  return uint64_t(((unsigned __int128)x * y) >> 64);
}

//===----------------------------------------------------------------------===//
// Types: storage of 16-bit floating point; arithmetic is float's
//===----------------------------------------------------------------------===//

#define MLC_KERNEL(name, ...) extern "C" __global__ void name

/// What a launch must know of a kernel: how many parameters it has, and the
/// bytes of each.
template <typename... P> struct MlcParameters {
  unsigned count, bytes[sizeof...(P) + 1];
};
template <typename... P>
constexpr MlcParameters<P...> mlcParametersOf(void (*)(P...)) {
  return {sizeof...(P), {sizeof(P)..., 0}};
}
/// The emulator puts this behind a module's source for each of its kernels.
#define MLC_PARAMETERS(name)                                                   \
  extern "C" {                                                                 \
  __attribute__((visibility("default"),                                        \
                 used)) extern const decltype(mlcParametersOf(&name))          \
      mlcParameters_##name = mlcParametersOf(&name);                           \
  }
#define MLC_DEVICE inline __attribute__((always_inline))

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

MLC_DEVICE float toFloat(f16 value) {
  unsigned sign = unsigned(value.bits & 0x8000) << 16;
  unsigned rest = value.bits & 0x7fff;
  if (rest < 0x400) // subnormal: a multiple of 2^-24
    return __uint_as_float(__float_as_uint(float(rest) * 0x1p-24f) | sign);
  if (rest >= 0x7c00) // infinite or not a number
    return __uint_as_float((rest << 13) | 0x7f800000 | sign);
  return __uint_as_float(((rest << 13) + (112u << 23)) | sign);
}
MLC_DEVICE float toFloat(bf16 value) {
  return __int_as_float(int(unsigned(value.bits) << 16));
}
/// Rounds to nearest, ties to even; NaN becomes the one that a GPU makes. Done
/// by hand, since not every clang has the type.
MLC_DEVICE f16 toF16(double value) {
  uint64_t bits = uint64_t(__double_as_longlong(value));
  unsigned sign = unsigned(bits >> 48) & 0x8000;
  double magnitude = fabs(value);
  if (isnan(value))
    return {0x7fff};
  if (magnitude >= 65520)
    return {uint16_t(sign | 0x7c00)};
  long long exponent = max((long long)(bits >> 52 & 0x7ff) - 1023, -14ll);
  // In units of the last place; adding 2^52 rounds to an integer.
  double units = magnitude * __longlong_as_double((1033 - exponent) << 52);
  unsigned rounded = unsigned(__double_as_longlong(units + 0x1p52));
  return {uint16_t(sign | (unsigned((exponent + 14) << 10) + rounded))};
}
MLC_DEVICE f16 toF16(float value) { return toF16(double(value)); }
MLC_DEVICE bf16 toBF16(float value) {
  uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {uint16_t((bits >> 16) | 0x40)};
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

MLC_DEVICE float maxOrNaN(float x, float y) {
  return x != x   ? x
         : y != y ? y
         : x == y ? (__float_as_uint(x) >> 31 ? y : x)
                  : (x < y ? y : x);
}
MLC_DEVICE float minOrNaN(float x, float y) { return -maxOrNaN(-x, -y); }

// Rounds towards zero and saturates. As on a GPU, NaN becomes 0 from a float to
// 32 bits, else the highest bit alone.

template <typename Integer, typename Real>
Integer mlcEmulatorToInteger(Real value) {
  constexpr bool isSigned = Integer(-1) < Integer(0);
  constexpr Integer high = Integer(1ull << (sizeof(Integer) * 8 - 1));
  constexpr Integer least = isSigned ? high : Integer(0),
                    most = isSigned ? Integer(~high) : Integer(-1);
  if (value != value)
    return sizeof(Integer) == 4 && sizeof(Real) == 4 ? Integer(0) : high;
  // Both bounds are powers of two and thus exact in floating point.
  if (value >= Real(2) * Real(1ull << (sizeof(Integer) * 8 - 1 - isSigned)))
    return most;
  if (value <= Real(least))
    return least;
  return Integer(value);
}
MLC_DEVICE int toInt32(float value) { return mlcEmulatorToInteger<int>(value); }
MLC_DEVICE unsigned toUInt32(float value) {
  return mlcEmulatorToInteger<unsigned>(value);
}
MLC_DEVICE long long toInt64(float value) {
  return mlcEmulatorToInteger<long long>(value);
}
MLC_DEVICE unsigned long long toUInt64(float value) {
  return mlcEmulatorToInteger<unsigned long long>(value);
}
MLC_DEVICE int toInt32(double value) {
  return mlcEmulatorToInteger<int>(value);
}
MLC_DEVICE unsigned toUInt32(double value) {
  return mlcEmulatorToInteger<unsigned>(value);
}
MLC_DEVICE long long toInt64(double value) {
  return mlcEmulatorToInteger<long long>(value);
}
MLC_DEVICE unsigned long long toUInt64(double value) {
  return mlcEmulatorToInteger<unsigned long long>(value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct mlcEmulatorWords {
  uint64_t first, second;
};
extern "C" mlcEmulatorWords mlcEmulatorLoadWide(const void *from,
                                                unsigned bytes) noexcept;
extern "C" void mlcEmulatorStoreWide(void *to, mlcEmulatorWords words,
                                     unsigned bytes) noexcept;

MLC_DEVICE void prefetchLine(const void *at) { (void)at; }

extern "C" void mlcEmulatorWaitForPriorLaunch();
MLC_DEVICE void waitForPriorLaunch() { mlcEmulatorWaitForPriorLaunch(); }
MLC_DEVICE void launchNext() {}

/// One access of 1, 2, 4, 8 or 16 bytes, at a multiple of its size.
template <typename Value> MLC_DEVICE Value loadWide(const void *from) {
  static_assert(alignof(Value) == sizeof(Value), "it is one access");
  mlcEmulatorWords words = mlcEmulatorLoadWide(from, sizeof(Value));
  Value value;
  __builtin_memcpy(&value, &words, sizeof(Value));
  return value;
}
template <typename Value>
MLC_DEVICE void storeWide(void *to, const Value &value) {
  static_assert(alignof(Value) == sizeof(Value), "it is one access");
  mlcEmulatorWords words = {};
  __builtin_memcpy(&words, &value, sizeof(Value));
  mlcEmulatorStoreWide(to, words, sizeof(Value));
}

//===----------------------------------------------------------------------===//
// Blocks and warps
//===----------------------------------------------------------------------===//

#define MLC_EMULATOR_TOGETHER extern "C" __attribute__((convergent, nothrow))
MLC_EMULATOR_TOGETHER void mlcEmulatorSyncBlock(unsigned site);
MLC_EMULATOR_TOGETHER void mlcEmulatorSyncWarp();
MLC_EMULATOR_TOGETHER uint64_t mlcEmulatorShuffleXor(uint64_t value, int mask);

/// The dynamic shared memory of the launch, at a multiple of 128.
MLC_DEVICE uint8_t *sharedMemory() { return mlcEmulatorSharedMemory(); }

/// A barrier for all threads of the block, or of the warp: writes before it are
/// visible to all of them after it. The place in the source distinguishes
/// barriers, even if the compiler merges the branches around them.
MLC_DEVICE void syncBlock(unsigned line = __builtin_LINE(),
                          unsigned column = __builtin_COLUMN()) {
  mlcEmulatorSyncBlock(line << 12 | column);
}
MLC_DEVICE void syncWarp() { mlcEmulatorSyncWarp(); }

/// The value of lane `lane ^ mask` of the warp. All 32 lanes must call it.
MLC_DEVICE unsigned long long shuffleXor(unsigned long long value, int mask) {
  return mlcEmulatorShuffleXor(value, mask);
}
MLC_DEVICE long long shuffleXor(long long value, int mask) {
  return (long long)mlcEmulatorShuffleXor(uint64_t(value), mask);
}
MLC_DEVICE int shuffleXor(int value, int mask) {
  return int(mlcEmulatorShuffleXor(unsigned(value), mask));
}
MLC_DEVICE unsigned shuffleXor(unsigned value, int mask) {
  return unsigned(mlcEmulatorShuffleXor(value, mask));
}
MLC_DEVICE float shuffleXor(float value, int mask) {
  return __int_as_float(shuffleXor(__float_as_int(value), mask));
}
MLC_DEVICE double shuffleXor(double value, int mask) {
  return __longlong_as_double(shuffleXor(__double_as_longlong(value), mask));
}

//===----------------------------------------------------------------------===//
// Cooperation of blocks
//===----------------------------------------------------------------------===//

extern "C" unsigned mlcEmulatorCount(unsigned *counter,
                                     unsigned number) noexcept;

/// Increments `counter`, in global memory and initially 0, and returns its old
/// value; the last of `number` calls resets it to 0. The block's writes before
/// its last barrier are visible to the threads of a block that counts later,
/// after their next barrier.
MLC_DEVICE unsigned count(unsigned *counter, unsigned number) {
  return mlcEmulatorCount(counter, number);
}

//===----------------------------------------------------------------------===//
// 16 bytes at once
//===----------------------------------------------------------------------===//

/// Writes words to global memory, at a multiple of 16.
MLC_DEVICE void storeWords(void *to, const uint32_t (&words)[4]) {
  struct alignas(16) Words {
    uint32_t at[4];
  };
  storeWide(to, Words{{words[0], words[1], words[2], words[3]}});
}

//===----------------------------------------------------------------------===//
// Asynchronous copies from global to shared memory (sm_80)
//===----------------------------------------------------------------------===//

extern "C" void mlcEmulatorCopyAsync(void *to, const void *from, unsigned bytes,
                                     bool valid) noexcept;
extern "C" void mlcEmulatorCommitCopies() noexcept;
extern "C" void mlcEmulatorWaitForCopies(unsigned pending) noexcept;

/// Starts a copy of `bytes` (4, 8 or 16) bytes between addresses that are
/// multiples of it. If not `valid`, writes zeros and does not read `from`.
template <int bytes, bool isReadAgain = false>
MLC_DEVICE void copyAsync(void *to, const void *from, bool valid) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  mlcEmulatorCopyAsync(to, from, bytes, valid);
#else
  for (int i = 0; i < bytes / 4; ++i)
    static_cast<uint32_t *>(to)[i] =
        valid ? static_cast<const uint32_t *>(from)[i] : 0;
#endif
}

/// Closes a group of the copies that this thread started since the last one.
MLC_DEVICE void commitCopies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  mlcEmulatorCommitCopies();
#endif
}

/// Waits until all but the last `pending` groups of this thread are complete
/// and visible to it; a barrier makes them visible to others.
template <int pending> MLC_DEVICE void waitForCopies() {
  static_assert(pending >= 0);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  mlcEmulatorWaitForCopies(pending);
#endif
}

//===----------------------------------------------------------------------===//
// Tensor cores. All lanes of a warp call these together.
//===----------------------------------------------------------------------===//

struct mlcEmulatorSums {
  float sums[4];
};
/// `site` is the place of the call in the kernel's source, as in syncBlock():
/// lanes at different calls do not match.
MLC_EMULATOR_TOGETHER mlcEmulatorWords mlcEmulatorLoadMatrices(const void *row,
                                                               bool transposed,
                                                               unsigned site);
/// `kind` is 0 for f16, 1 for bf16, 2 for tf32; for bytes 4, plus 2 if a is
/// signed, plus 1 if b is signed.
MLC_EMULATOR_TOGETHER mlcEmulatorSums
mlcEmulatorMultiplyAdd(unsigned kind, mlcEmulatorSums d, uint64_t a0,
                       uint64_t a1, uint64_t b, unsigned site);

MLC_DEVICE void mlcEmulatorLoadInto(uint32_t (&to)[4], const void *row,
                                    bool transposed, unsigned site) {
  mlcEmulatorWords words = mlcEmulatorLoadMatrices(row, transposed, site);
  to[0] = uint32_t(words.first);
  to[1] = uint32_t(words.first >> 32);
  to[2] = uint32_t(words.second);
  to[3] = uint32_t(words.second >> 32);
}
MLC_DEVICE void mlcEmulatorMultiplyInto(unsigned kind, float (&d)[4],
                                        const uint32_t (&a)[4],
                                        const uint32_t (&b)[2], unsigned site) {
  mlcEmulatorSums sums = {{d[0], d[1], d[2], d[3]}};
  sums = mlcEmulatorMultiplyAdd(kind, sums, a[0] | (uint64_t(a[1]) << 32),
                                a[2] | (uint64_t(a[3]) << 32),
                                b[0] | (uint64_t(b[1]) << 32), site);
  for (int i = 0; i < 4; ++i)
    d[i] = sums.sums[i];
}

/// Four 8x8 matrices of 16-bit elements from shared memory: lane l gives the
/// address, a multiple of 16, of row l % 8 of matrix l / 8, and gets elements
/// 2 * (l % 4) and the next of row l / 4 of each matrix.
MLC_DEVICE void loadMatrices(uint32_t (&to)[4], const void *row,
                             unsigned line = __builtin_LINE(),
                             unsigned column = __builtin_COLUMN()) {
  mlcEmulatorLoadInto(to, row, false, line << 12 | column);
}
/// The same for the transposed matrices.
MLC_DEVICE void loadMatricesTransposed(uint32_t (&to)[4], const void *row,
                                       unsigned line = __builtin_LINE(),
                                       unsigned column = __builtin_COLUMN()) {
  mlcEmulatorLoadInto(to, row, true, line << 12 | column);
}

// d += a * b for a 16 x k times a k x 8 matrix. Lane l = 4 g + t holds
//   d: rows g, g, g + 8, g + 8; columns 2 t, 2 t + 1, 2 t, 2 t + 1
//   16-bit a (k = 16): in words, columns 2 t and next of rows g and g + 8, then
//     columns 2 t + 8 and next of them; b: rows 2 t and next, 2 t + 8 and next
//     of column g
//   tf32 a (k = 8): rows g, g + 8, g, g + 8 of columns t, t, t + 4, t + 4;
//     b: rows t, t + 4 of column g
// The emulator adds products, which are exact, from k = 0 upwards, and rounds
// each sum to float; a GPU's order and rounding are not documented.

MLC_DEVICE void multiplyAddF16(float (&d)[4], const uint32_t (&a)[4],
                               const uint32_t (&b)[2],
                               unsigned line = __builtin_LINE(),
                               unsigned column = __builtin_COLUMN()) {
  mlcEmulatorMultiplyInto(0, d, a, b, line << 12 | column);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MLC_DEVICE void multiplyAddBF16(float (&d)[4], const uint32_t (&a)[4],
                                const uint32_t (&b)[2],
                                unsigned line = __builtin_LINE(),
                                unsigned column = __builtin_COLUMN()) {
  mlcEmulatorMultiplyInto(1, d, a, b, line << 12 | column);
}

/// The bits of `value` rounded to tf32 (8 bits of exponent, 10 of mantissa), to
/// nearest, ties away from zero.
MLC_DEVICE uint32_t toTF32(float value) {
  uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7f800000) == 0x7f800000) // keeps NaN a NaN
    return (bits & 0x7fffff) ? 0x7fffe000 : bits;
  return (bits + 0x1000) & 0xffffe000;
}

/// Uses the tf32 bits of its factors and ignores the lower bits.
MLC_DEVICE void multiplyAddTF32(float (&d)[4], const uint32_t (&a)[4],
                                const uint32_t (&b)[2],
                                unsigned line = __builtin_LINE(),
                                unsigned column = __builtin_COLUMN()) {
  mlcEmulatorMultiplyInto(2, d, a, b, line << 12 | column);
}

/// The product of signed or unsigned bytes; k = 32, four bytes per word. Sums
/// wrap.
template <bool aSigned, bool bSigned>
MLC_DEVICE void multiplyAddBytes(int (&d)[4], const uint32_t (&a)[4],
                                 const uint32_t (&b)[2],
                                 unsigned line = __builtin_LINE(),
                                 unsigned column = __builtin_COLUMN()) {
  float bits[4];
  for (int i = 0; i < 4; ++i)
    bits[i] = __int_as_float(d[i]);
  mlcEmulatorMultiplyInto(4 + 2 * aSigned + bSigned, bits, a, b,
                          line << 12 | column);
  for (int i = 0; i < 4; ++i)
    d[i] = __float_as_int(bits[i]);
}
#endif

#endif // MLC_DEVICE_CUH
