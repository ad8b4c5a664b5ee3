//===- mlc_device.cuh - Device functions for kernels ------------*- C++ -*-===//
//
// Kernels include only this file, and mlc_hopper.cuh for sm_90a; no other file
// has PTX. The emulator has one of the same name and meaning
// (runtime/emulator/include). Built by NVRTC or nvcc for sm_75 and later. No
// header of CUDA is needed.
//
// References are to sections of the PTX ISA, version 9.0.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DEVICE_CUH
#define MLC_DEVICE_CUH

// Kernels define sizes that some of them do not use.
#pragma nv_diag_suppress 177, 550

/// A kernel: the maximum number of threads per block and, optionally, the
/// minimum number of blocks per multiprocessor.
#define MLC_KERNEL(name, ...)                                                  \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name
#define MLC_DEVICE __device__ __forceinline__

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#include <cmath>
#include <cstdint>
#endif

//===----------------------------------------------------------------------===//
// Types: storage of 16-bit floats; arithmetic is in float
//===----------------------------------------------------------------------===//

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

MLC_DEVICE float toFloat(f16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
MLC_DEVICE float toFloat(bf16 value) {
  return __int_as_float(int(value.bits) << 16);
}
/// Rounded to nearest, ties to even.
MLC_DEVICE f16 toF16(float value) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
MLC_DEVICE f16 toF16(double value) {
  f16 result;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result.bits) : "d"(value));
  return result;
}
MLC_DEVICE bf16 toBF16(float value) {
  uint32_t bits = __float_as_int(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {uint16_t((bits >> 16) | 0x40)};
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

/// The larger and the smaller value; NaN where either is. -0 is below 0 (PTX:
/// max.NaN; sm_80).
MLC_DEVICE float maxOrNaN(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x != x ? x : y != y ? y : fmaxf(x, y);
#endif
}
MLC_DEVICE float minOrNaN(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x != x ? x : y != y ? y : fminf(x, y);
#endif
}

// Rounded towards zero. Values out of range saturate. NaN gives 0 from a float
// to 32 bits, otherwise only the highest bit (PTX ISA 9.7.9.22, cvt).

MLC_DEVICE int toInt32(float value) {
  int result;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return result;
}
MLC_DEVICE unsigned toUInt32(float value) {
  unsigned result;
  asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return result;
}
MLC_DEVICE long long toInt64(float value) {
  long long result;
  asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(result) : "f"(value));
  return result;
}
MLC_DEVICE unsigned long long toUInt64(float value) {
  unsigned long long result;
  asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(result) : "f"(value));
  return result;
}
MLC_DEVICE int toInt32(double value) {
  int result;
  asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(result) : "d"(value));
  return result;
}
MLC_DEVICE unsigned toUInt32(double value) {
  unsigned result;
  asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(result) : "d"(value));
  return result;
}
MLC_DEVICE long long toInt64(double value) {
  long long result;
  asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(result) : "d"(value));
  return result;
}
MLC_DEVICE unsigned long long toUInt64(double value) {
  unsigned long long result;
  asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(result) : "d"(value));
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// One access of 1, 2, 4, 8 or 16 bytes, at a multiple of its size.
template <typename Value> MLC_DEVICE Value loadWide(const void *from) {
  static_assert(alignof(Value) == sizeof(Value), "it is one access");
  return *static_cast<const Value *>(from);
}
template <typename Value>
MLC_DEVICE void storeWide(void *to, const Value &value) {
  static_assert(alignof(Value) == sizeof(Value), "it is one access");
  *static_cast<Value *>(to) = value;
}

/// Asks for the 128 bytes around an address, so that a later load finds them in
/// the L2 (PTX: prefetch). Nothing is read, and any address will do.
MLC_DEVICE void prefetchLine(const void *at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(at)));
}

//===----------------------------------------------------------------------===//
// Launches that may begin before the one in front has ended, from 9.0 on
//===----------------------------------------------------------------------===//

/// Waits until the launch in front has ended, and its writes are visible (PTX:
/// griddepcontrol.wait). Before, no memory of others may be read or written.
MLC_DEVICE void waitForPriorLaunch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next launch may begin when all blocks have called this or have ended
/// (PTX: griddepcontrol.launch_dependents).
MLC_DEVICE void launchNext() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

//===----------------------------------------------------------------------===//
// Blocks and warps
//===----------------------------------------------------------------------===//

/// The dynamic shared memory of the launch, at a multiple of 128.
MLC_DEVICE uint8_t *sharedMemory() {
  extern __shared__ __align__(128) uint8_t memory[];
  return memory;
}

/// Barriers of the block and of the warp; they make earlier writes visible to
/// all its threads.
MLC_DEVICE void syncBlock() { __syncthreads(); }
MLC_DEVICE void syncWarp() { __syncwarp(); }

/// The value that lane `lane ^ mask` of the warp has. All 32 lanes call it.
MLC_DEVICE int shuffleXor(int value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
MLC_DEVICE unsigned shuffleXor(unsigned value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
MLC_DEVICE long long shuffleXor(long long value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
MLC_DEVICE unsigned long long shuffleXor(unsigned long long value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
MLC_DEVICE float shuffleXor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
MLC_DEVICE double shuffleXor(double value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

//===----------------------------------------------------------------------===//
// Blocks that work together (PTX: atom, sections on the memory consistency
// model)
//===----------------------------------------------------------------------===//

/// Increments `counter`, which is in global memory and begins at 0, and returns
/// its previous value; the last of `number` calls resets it to 0. What the
/// block wrote before its last barrier is visible to a block that counts later,
/// after that block's next barrier.
MLC_DEVICE unsigned count(unsigned *counter, unsigned number) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(number - 1)
               : "memory");
  return before;
}

//===----------------------------------------------------------------------===//
// 16 bytes at once (PTX: st.v4)
//===----------------------------------------------------------------------===//

/// Writes words to global memory, at a multiple of 16. The kernel must not read
/// them: the compiler may move its other accesses across.
MLC_DEVICE void storeWords(void *to, const uint32_t (&words)[4]) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]));
}

//===----------------------------------------------------------------------===//
// Asynchronous copies from global to shared memory (PTX: cp.async; sm_80)
//===----------------------------------------------------------------------===//

/// Starts a copy of `bytes` (4, 8 or 16) bytes, with both addresses multiples
/// of `bytes`; if not `valid`, writes zeros and does not read `from`.
/// `isReadAgain`: other copies of the multiprocessor read nearly the same, so
/// 16 bytes go through its cache, too.
template <int bytes, bool isReadAgain = false>
MLC_DEVICE void copyAsync(void *to, const void *from, bool valid) {
#if __CUDA_ARCH__ >= 800
  unsigned address = unsigned(__cvta_generic_to_shared(to));
  int size = valid ? bytes : 0;
  if constexpr (bytes == 16 && !isReadAgain)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address),
                 "l"(from), "r"(size)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address),
                 "l"(from), "n"(bytes), "r"(size)
                 : "memory");
#else
  for (int i = 0; i < bytes / 4; ++i)
    static_cast<uint32_t *>(to)[i] =
        valid ? static_cast<const uint32_t *>(from)[i] : 0;
#endif
}

/// Closes a group of the copies that this thread started since the last one.
MLC_DEVICE void commitCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all but the last `pending` groups of this thread are visible to
/// it; a barrier makes them visible to others.
template <int pending> MLC_DEVICE void waitForCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

//===----------------------------------------------------------------------===//
// Tensor cores (PTX: ldmatrix, mma). A warp calls these together.
//===----------------------------------------------------------------------===//

/// Four 8x8 matrices of 16-bit elements from shared memory: lane l gives the
/// address, a multiple of 16, of row l % 8 of matrix l / 8, and gets elements
/// 2 * (l % 4) and the next of row l / 4 of each matrix.
MLC_DEVICE void loadMatrices(uint32_t (&to)[4], const void *row) {
  unsigned address = unsigned(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
/// The same with the matrices transposed.
MLC_DEVICE void loadMatricesTransposed(uint32_t (&to)[4], const void *row) {
  unsigned address = unsigned(__cvta_generic_to_shared(row));
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "r"(address)
      : "memory");
}

// d += a * b for a 16 x k times a k x 8 matrix. Lane l = 4 g + t holds
//   d: rows g, g, g + 8, g + 8; columns 2 t, 2 t + 1, 2 t, 2 t + 1
//   16-bit a (k = 16): in words, columns 2 t and next of rows g and g + 8, then
//     columns 2 t + 8 and next of them; b: rows 2 t and next, 2 t + 8 and next
//     of column g
//   tf32 a (k = 8): rows g, g + 8, g, g + 8 of columns t, t, t + 4, t + 4;
//     b: rows t, t + 4 of column g

MLC_DEVICE void multiplyAddF16(float (&d)[4], const uint32_t (&a)[4],
                               const uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                 "r"(b[1]));
#else
  // sm_75 has only half of it: k = 8.
  for (int half = 0; half < 2; ++half)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#endif
}

// A host compiler, which reads this too, has no architecture.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MLC_DEVICE void multiplyAddBF16(float (&d)[4], const uint32_t (&a)[4],
                                const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                 "r"(b[1]));
}

/// The bits of `value` rounded to nearest (ties away from zero) in tf32: 8 bits
/// of exponent, 10 of mantissa.
MLC_DEVICE uint32_t toTF32(float value) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

/// Reads the tf32 bits of its factors and drops the lower ones.
MLC_DEVICE void multiplyAddTF32(float (&d)[4], const uint32_t (&a)[4],
                                const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                 "r"(b[1]));
}

/// The product of signed or unsigned bytes; k = 32, four bytes in a word. Sums
/// wrap.
template <bool aSigned, bool bSigned>
MLC_DEVICE void multiplyAddBytes(int (&d)[4], const uint32_t (&a)[4],
                                 const uint32_t (&b)[2]) {
#define MLC_MULTIPLY_BYTES(types)                                              \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." types                  \
               ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),        \
                 "r"(b[1]))
  if constexpr (aSigned && bSigned)
    MLC_MULTIPLY_BYTES("s8.s8");
  else if constexpr (aSigned)
    MLC_MULTIPLY_BYTES("s8.u8");
  else if constexpr (bSigned)
    MLC_MULTIPLY_BYTES("u8.s8");
  else
    MLC_MULTIPLY_BYTES("u8.u8");
#undef MLC_MULTIPLY_BYTES
}
#endif

#endif // MLC_DEVICE_CUH
