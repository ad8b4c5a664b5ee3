//===- mlc_hopper.cuh - Device functions of sm_90a --------------*- C++ -*-===//
//
// Mbarriers, the copy engine, and products of warpgroups. Kernels include it
// behind mlc_device.cuh; the emulator has one of the same name and meaning
// (runtime/emulator/include). Besides mlc_device.cuh the only file with PTX.
//
// References are to instructions of the PTX ISA, version 9.0.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_HOPPER_CUH
#define MLC_HOPPER_CUH

/// A tensor as the copy engine sees it (CUtensorMap, made by
/// cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col). Kernels take maps as
/// their first parameters, `const __grid_constant__ TensorMap`.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// Types of factors that are only bits.
struct tf32 {
  uint32_t bits;
};
struct e4m3 {
  uint8_t bits;
};

/// The address of shared memory as instructions have it. sharedMemory() is at a
/// multiple of 128; a swizzle's pattern repeats after eight times its width.
MLC_DEVICE unsigned sharedAddress(const void *memory) {
  return unsigned(__cvta_generic_to_shared(memory));
}

//===----------------------------------------------------------------------===//
// Mbarriers: eight bytes of shared memory each (PTX: mbarrier)
//===----------------------------------------------------------------------===//

/// Makes a barrier whose phases each take that many arrivals. Other threads,
/// and copies, may use it after fenceBarrierInit() and a barrier of the block.
MLC_DEVICE void initBarrier(uint64_t *barrier, unsigned arrivals) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
      "r"(arrivals)
      : "memory");
}
/// Ends a barrier, so that its memory may have other uses (mbarrier.inval).
MLC_DEVICE void endBarrier(uint64_t *barrier) {
  asm volatile(
      "mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sharedAddress(barrier))
      : "memory");
}
/// Makes this thread's initBarrier() calls visible to copies
/// (fence.mbarrier_init).
MLC_DEVICE void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives once; releases what lies before in this thread, not in its warp.
MLC_DEVICE void arrive(uint64_t *barrier) {
  asm volatile(
      "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier))
      : "memory");
}
/// The same, and the phase also waits for that many bytes of copies
/// (mbarrier.arrive.expect_tx).
MLC_DEVICE void arriveAndExpect(uint64_t *barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   sharedAddress(barrier)),
               "r"(bytes)
               : "memory");
}
/// Waits until phase `phase` is complete; 0 is the first, and -1 is complete at
/// once. The barrier tells a phase from its neighbours only, so it must be the
/// running one or the one before (mbarrier.try_wait.parity).
MLC_DEVICE void waitForPhase(uint64_t *barrier, int phase) {
  asm volatile("{\n.reg .pred done;\n"
               "WAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra DONE;\n"
               "bra WAIT;\n"
               "DONE:\n}" ::"r"(sharedAddress(barrier)),
               "r"(phase & 1)
               : "memory");
}

//===----------------------------------------------------------------------===//
// Named barriers, for a part of the block (PTX: barrier.cta). All lanes of a
// warp call these together; `threads` counts all that take part.
//===----------------------------------------------------------------------===//

/// A barrier like syncBlock() for `threads` threads; `id` is 1 to 15.
MLC_DEVICE void syncNamed(int id, int threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(id), "r"(threads)
               : "memory");
}
/// Arrives without waiting.
MLC_DEVICE void arriveNamed(int id, int threads) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(id), "r"(threads)
               : "memory");
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Changes the registers of each thread of a warpgroup to `count`, a multiple
/// of 8 from 24 to 256 (PTX: setmaxnreg). The kernel needs launch bounds.
template <int count> MLC_DEVICE void raiseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> MLC_DEVICE void dropRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

//===----------------------------------------------------------------------===//
// The copy engine
//===----------------------------------------------------------------------===//

/// Makes what lies before in this thread visible to copies and products, which
/// read shared memory by another way than threads (PTX: fence.proxy.async).
MLC_DEVICE void fenceAsyncProxy() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// Fetches a map into the cache (PTX: prefetch.tensormap).
MLC_DEVICE void prefetchMap(const TensorMap *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// One thread starts a copy. The barrier's phase is told its bytes by
// arriveAndExpect(); they arrive in any order, and waitForPhase() shows them.

#define MLC_COPY_TENSOR(rank, places, ...)                                     \
  asm volatile("cp.async.bulk.tensor." rank                                    \
               ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], "   \
               "[%1, {" places "}], [%2];" ::"r"(sharedAddress(to)),           \
               "l"(map), "r"(sharedAddress(barrier)), __VA_ARGS__              \
               : "memory")
#define MLC_STORE_TENSOR(rank, places, ...)                                    \
  asm volatile("cp.async.bulk.tensor." rank                                    \
               ".global.shared::cta.bulk_group [%0, {" places                  \
               "}], [%1];" ::"l"(map),                                         \
               "r"(sharedAddress(from)), __VA_ARGS__                           \
               : "memory")

/// Copies a box of a tiled map to shared memory, at a multiple of 128. What
/// lies outside the tensor becomes zero. Coordinates are of elements, the
/// fastest first (PTX: cp.async.bulk.tensor).
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x) {
  MLC_COPY_TENSOR("1d", "%3", "r"(x));
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y) {
  MLC_COPY_TENSOR("2d", "%3, %4", "r"(x), "r"(y));
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y, int z) {
  MLC_COPY_TENSOR("3d", "%3, %4, %5", "r"(x), "r"(y), "r"(z));
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y, int z, int u) {
  MLC_COPY_TENSOR("4d", "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u));
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y, int z, int u, int v) {
  MLC_COPY_TENSOR("5d", "%3, %4, %5, %6, %7", "r"(x), "r"(y), "r"(z), "r"(u),
                  "r"(v));
}

/// Copies a column of pixels of an im2col map: its channels from `c` on, for
/// the pixels from the given one on, each moved by the offsets of the filter
/// (PTX: cp.async.bulk.tensor, im2col mode).
MLC_DEVICE void copyPixels(void *to, const TensorMap *map, uint64_t *barrier,
                           int c, int w, int n, uint16_t s) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::"
      "complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2], {%6};" ::"r"(
          sharedAddress(to)),
      "l"(map), "r"(sharedAddress(barrier)), "r"(c), "r"(w), "r"(n), "h"(s)
      : "memory");
}
MLC_DEVICE void copyPixels(void *to, const TensorMap *map, uint64_t *barrier,
                           int c, int w, int h, int n, uint16_t s, uint16_t r) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::"
      "complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(
          sharedAddress(to)),
      "l"(map), "r"(sharedAddress(barrier)), "r"(c), "r"(w), "r"(h), "r"(n),
      "h"(s), "h"(r)
      : "memory");
}
MLC_DEVICE void copyPixels(void *to, const TensorMap *map, uint64_t *barrier,
                           int c, int w, int h, int d, int n, uint16_t s,
                           uint16_t r, uint16_t q) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier:"
               ":complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2], "
               "{%8, %9, %10};" ::"r"(sharedAddress(to)),
               "l"(map), "r"(sharedAddress(barrier)), "r"(c), "r"(w), "r"(h),
               "r"(d), "r"(n), "h"(s), "h"(r), "h"(q)
               : "memory");
}

/// Copies bytes; the addresses and their number are multiples of 16 (PTX:
/// cp.async.bulk).
MLC_DEVICE void copyBulk(void *to, const void *from, unsigned bytes,
                         uint64_t *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(sharedAddress(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes),
               "r"(sharedAddress(barrier))
               : "memory");
}

// Stores from shared memory, in groups like those of copyAsync(). Threads that
// wrote the memory call fenceAsyncProxy() before a barrier, and then one thread
// stores, commits and waits.

/// What lies outside the tensor is left out.
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x) {
  MLC_STORE_TENSOR("1d", "%2", "r"(x));
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y) {
  MLC_STORE_TENSOR("2d", "%2, %3", "r"(x), "r"(y));
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y, int z) {
  MLC_STORE_TENSOR("3d", "%2, %3, %4", "r"(x), "r"(y), "r"(z));
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y, int z, int u) {
  MLC_STORE_TENSOR("4d", "%2, %3, %4, %5", "r"(x), "r"(y), "r"(z), "r"(u));
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y, int z, int u, int v) {
  MLC_STORE_TENSOR("5d", "%2, %3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u),
                   "r"(v));
}

MLC_DEVICE void storeBulk(void *to, const void *from, unsigned bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
          __cvta_generic_to_global(to)),
      "r"(sharedAddress(from)), "r"(bytes)
      : "memory");
}
MLC_DEVICE void commitStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all but the last `pending` groups of this thread have read their
/// shared memory, or have also written.
template <int pending> MLC_DEVICE void waitForStoreReads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
template <int pending> MLC_DEVICE void waitForStores() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

/// Four 8x8 matrices of 16-bit elements to shared memory, by lanes as in
/// loadMatrices(). A warp calls it together (PTX: stmatrix).
MLC_DEVICE void storeMatrices(void *row, const uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
               "%4};" ::"r"(sharedAddress(row)),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup (PTX: wgmma). Its four warps call these together.
//===----------------------------------------------------------------------===//

/// Before the first product, and after other uses of registers that a product
/// adds to or reads (wgmma.fence).
MLC_DEVICE void fenceProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
MLC_DEVICE void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all but the last `pending` groups; until then their registers must
/// not be touched, nor their shared memory be written.
template <int pending> MLC_DEVICE void waitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Describes a factor in shared memory (wgmma: matrix descriptor), as the copy
/// engine writes it with a swizzle of 0, 32, 64 or 128 bytes. Along K:
/// `stride` is from 8 rows to the next 8, and `leading` counts without swizzle
/// only, from 16 bytes to the next. Across K: with a swizzle `leading` is from
/// one run of a swizzle's width to the next, and `stride` from 8 places of k to
/// the next 8; without, the other way round.
template <int swizzle>
MLC_DEVICE unsigned long long describeTile(const void *start, unsigned leading,
                                           unsigned stride) {
  static_assert(swizzle == 0 || swizzle == 32 || swizzle == 64 ||
                swizzle == 128);
  constexpr unsigned long long mode = swizzle == 128  ? 1
                                      : swizzle == 64 ? 2
                                      : swizzle == 32 ? 3
                                                      : 0;
  return (unsigned long long)((sharedAddress(start) & 0x3ffff) >> 4) |
         (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | mode << 62;
}

// d = a * b, or d += a * b if `add`, for 64 rows and n columns; d has n / 2 of
// them in each thread: lane 4 g + t of warp w has, for column block j of 8,
// rows 16 w + g and 16 w + g + 8 of columns 8 j + 2 t and the next, as d[4 j],
// d[4 j
// + 1] and d[4 j + 2], d[4 j + 3]. n is 8, 32, 64, 96, 128, 192 or 256; k is
// 32 bytes.

#define MLC_R0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define MLC_R8 "%8, %9, %10, %11, %12, %13, %14, %15"
#define MLC_R16 "%16, %17, %18, %19, %20, %21, %22, %23"
#define MLC_R24 "%24, %25, %26, %27, %28, %29, %30, %31"
#define MLC_R32 "%32, %33, %34, %35, %36, %37, %38, %39"
#define MLC_R40 "%40, %41, %42, %43, %44, %45, %46, %47"
#define MLC_R48 "%48, %49, %50, %51, %52, %53, %54, %55"
#define MLC_R56 "%56, %57, %58, %59, %60, %61, %62, %63"
#define MLC_R64 "%64, %65, %66, %67, %68, %69, %70, %71"
#define MLC_R72 "%72, %73, %74, %75, %76, %77, %78, %79"
#define MLC_R80 "%80, %81, %82, %83, %84, %85, %86, %87"
#define MLC_R88 "%88, %89, %90, %91, %92, %93, %94, %95"
#define MLC_R96 "%96, %97, %98, %99, %100, %101, %102, %103"
#define MLC_R104 "%104, %105, %106, %107, %108, %109, %110, %111"
#define MLC_R112 "%112, %113, %114, %115, %116, %117, %118, %119"
#define MLC_R120 "%120, %121, %122, %123, %124, %125, %126, %127"
#define MLC_D8(c, i)                                                           \
  c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]),    \
      c(d[i + 6]), c(d[i + 7])
#define MLC_D4(c) c(d[0]), c(d[1]), c(d[2]), c(d[3])
#define MLC_D16(c, i) MLC_D8(c, i), MLC_D8(c, i + 8)
#define MLC_D32(c, i) MLC_D16(c, i), MLC_D16(c, i + 16)
#define MLC_REGISTERS8 "%0, %1, %2, %3"
#define MLC_SUMS8(c) MLC_D4(c)
#define MLC_REGISTERS32 MLC_R0 ", " MLC_R8
#define MLC_SUMS32(c) MLC_D16(c, 0)
#define MLC_REGISTERS64 MLC_R0 ", " MLC_R8 ", " MLC_R16 ", " MLC_R24
#define MLC_SUMS64(c) MLC_D32(c, 0)
#define MLC_REGISTERS96                                                        \
  MLC_R0 ", " MLC_R8 ", " MLC_R16 ", " MLC_R24 ", " MLC_R32 ", " MLC_R40
#define MLC_SUMS96(c) MLC_D32(c, 0), MLC_D16(c, 32)
#define MLC_REGISTERS128                                                       \
  MLC_R0 ", " MLC_R8 ", " MLC_R16 ", " MLC_R24 ", " MLC_R32 ", " MLC_R40       \
         ", " MLC_R48 ", " MLC_R56
#define MLC_SUMS128(c) MLC_D32(c, 0), MLC_D32(c, 32)
#define MLC_REGISTERS192                                                       \
  MLC_R0 ", " MLC_R8 ", " MLC_R16 ", " MLC_R24 ", " MLC_R32 ", " MLC_R40       \
         ", " MLC_R48 ", " MLC_R56 ", " MLC_R64 ", " MLC_R72 ", " MLC_R80      \
         ", " MLC_R88
#define MLC_SUMS192(c) MLC_D32(c, 0), MLC_D32(c, 32), MLC_D32(c, 64)
#define MLC_REGISTERS256                                                       \
  MLC_R0 ", " MLC_R8 ", " MLC_R16 ", " MLC_R24 ", " MLC_R32 ", " MLC_R40       \
         ", " MLC_R48 ", " MLC_R56 ", " MLC_R64 ", " MLC_R72 ", " MLC_R80      \
         ", " MLC_R88 ", " MLC_R96 ", " MLC_R104 ", " MLC_R112 ", " MLC_R120
#define MLC_SUMS256(c)                                                         \
  MLC_D32(c, 0), MLC_D32(c, 32), MLC_D32(c, 64), MLC_D32(c, 96)
#define MLC_SUM_FLOAT(x) "+f"(x)
#define MLC_SUM_INT(x) "+r"(x)
/// `product` for the size of d, with the numbers of the operands behind d.
#define MLC_FOR_SIZE(product, ...)                                             \
  if constexpr (half == 4)                                                     \
    product(8, MLC_REGISTERS8, MLC_SUMS8, 4, 5, 6, 7, 8, 9, 10, __VA_ARGS__);  \
  else if constexpr (half == 16)                                               \
    product(32, MLC_REGISTERS32, MLC_SUMS32, 16, 17, 18, 19, 20, 21, 22,       \
            __VA_ARGS__);                                                      \
  else if constexpr (half == 32)                                               \
    product(64, MLC_REGISTERS64, MLC_SUMS64, 32, 33, 34, 35, 36, 37, 38,       \
            __VA_ARGS__);                                                      \
  else if constexpr (half == 48)                                               \
    product(96, MLC_REGISTERS96, MLC_SUMS96, 48, 49, 50, 51, 52, 53, 54,       \
            __VA_ARGS__);                                                      \
  else if constexpr (half == 64)                                               \
    product(128, MLC_REGISTERS128, MLC_SUMS128, 64, 65, 66, 67, 68, 69, 70,    \
            __VA_ARGS__);                                                      \
  else if constexpr (half == 96)                                               \
    product(192, MLC_REGISTERS192, MLC_SUMS192, 96, 97, 98, 99, 100, 101, 102, \
            __VA_ARGS__);                                                      \
  else if constexpr (half == 128)                                              \
    product(256, MLC_REGISTERS256, MLC_SUMS256, 128, 129, 130, 131, 132, 133,  \
            134, __VA_ARGS__);                                                 \
  else                                                                         \
    static_assert(half == 0, "no product has so many columns")
#define MLC_TILES(n, registers, sums, p0, p1, p2, p3, p4, p5, p6, sum, shape)  \
  asm volatile(                                                                \
      "{\n.reg .pred add;\nsetp.ne.b32 add, %" #p2                             \
      ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n shape " {" registers        \
      "}, %" #p0 ", %" #p1 ", add, 1, 1, %" #p3 ", %" #p4 ";\n}\n"             \
      : sums(sum)                                                              \
      : "l"(a), "l"(b), "r"(int(add)), "n"(int(aAcross)), "n"(int(bAcross)))
#define MLC_TILES_ALONG(n, registers, sums, p0, p1, p2, p3, p4, p5, p6, sum,   \
                        shape, scales)                                         \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #p2                    \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n shape              \
               " {" registers "}, %" #p0 ", %" #p1 ", add" scales ";\n}\n"     \
               : sums(sum)                                                     \
               : "l"(a), "l"(b), "r"(int(add)))
#define MLC_ROWS(n, registers, sums, p0, p1, p2, p3, p4, p5, p6, sum, shape)   \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #p5                    \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n shape              \
               " {" registers "}, {%" #p0 ", %" #p1 ", %" #p2 ", %" #p3        \
               "}, %" #p4 ", add, 1, 1, %" #p6 ";\n}\n"                        \
               : sums(sum)                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),           \
                 "r"(int(add)), "n"(int(bAcross)))
#define MLC_ROWS_ALONG(n, registers, sums, p0, p1, p2, p3, p4, p5, p6, sum,    \
                       shape, scales)                                          \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #p5                    \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n shape              \
               " {" registers "}, {%" #p0 ", %" #p1 ", %" #p2 ", %" #p3        \
               "}, %" #p4 ", add" scales ";\n}\n"                              \
               : sums(sum)                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),           \
                 "r"(int(add)))

template <typename T, typename U> constexpr bool isType = false;
template <typename T> constexpr bool isType<T, T> = true;

/// Factors f16, bf16, tf32 or e4m3 in shared memory. Those of 16 bits may lie
/// across K: a's rows, or b's columns, are neighbours in memory.
template <typename T, bool aAcross = false, bool bAcross = false, int half>
MLC_DEVICE void multiplyTiles(float (&d)[half], unsigned long long a,
                              unsigned long long b, bool add) {
  if constexpr (isType<T, f16>)
    MLC_FOR_SIZE(MLC_TILES, MLC_SUM_FLOAT, "k16.f32.f16.f16");
  else if constexpr (isType<T, bf16>)
    MLC_FOR_SIZE(MLC_TILES, MLC_SUM_FLOAT, "k16.f32.bf16.bf16");
  else {
    static_assert(!aAcross && !bAcross, "only 16 bits lie across K");
    if constexpr (isType<T, tf32>)
      MLC_FOR_SIZE(MLC_TILES_ALONG, MLC_SUM_FLOAT, "k8.f32.tf32.tf32",
                   ", 1, 1");
    else {
      static_assert(isType<T, e4m3>, "a type of factors");
      MLC_FOR_SIZE(MLC_TILES_ALONG, MLC_SUM_FLOAT, "k32.f32.e4m3.e4m3",
                   ", 1, 1");
    }
  }
}

/// The same with a in registers, for warp w rows 16 w and next as in
/// multiplyAddF16(), or multiplyAddTF32().
template <typename T, bool bAcross = false, int half>
MLC_DEVICE void multiplyRows(float (&d)[half], const uint32_t (&a)[4],
                             unsigned long long b, bool add) {
  if constexpr (isType<T, f16>)
    MLC_FOR_SIZE(MLC_ROWS, MLC_SUM_FLOAT, "k16.f32.f16.f16");
  else if constexpr (isType<T, bf16>)
    MLC_FOR_SIZE(MLC_ROWS, MLC_SUM_FLOAT, "k16.f32.bf16.bf16");
  else {
    static_assert(!bAcross, "only 16 bits lie across K");
    if constexpr (isType<T, tf32>)
      MLC_FOR_SIZE(MLC_ROWS_ALONG, MLC_SUM_FLOAT, "k8.f32.tf32.tf32", ", 1, 1");
    else {
      static_assert(isType<T, e4m3>, "a type of factors");
      MLC_FOR_SIZE(MLC_ROWS_ALONG, MLC_SUM_FLOAT, "k32.f32.e4m3.e4m3",
                   ", 1, 1");
    }
  }
}

/// Bytes with or without sign, with sums of 32 bits, which wrap.
template <bool aSigned, bool bSigned, int half>
MLC_DEVICE void multiplyTilesOfBytes(int (&d)[half], unsigned long long a,
                                     unsigned long long b, bool add) {
  if constexpr (aSigned && bSigned)
    MLC_FOR_SIZE(MLC_TILES_ALONG, MLC_SUM_INT, "k32.s32.s8.s8", "");
  else if constexpr (aSigned)
    MLC_FOR_SIZE(MLC_TILES_ALONG, MLC_SUM_INT, "k32.s32.s8.u8", "");
  else if constexpr (bSigned)
    MLC_FOR_SIZE(MLC_TILES_ALONG, MLC_SUM_INT, "k32.s32.u8.s8", "");
  else
    MLC_FOR_SIZE(MLC_TILES_ALONG, MLC_SUM_INT, "k32.s32.u8.u8", "");
}

#endif // MLC_HOPPER_CUH
