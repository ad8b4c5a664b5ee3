//===- mlc_hopper.cuh - The device functions of sm_90a, in C++ --*- C++ -*-===//
//
// The emulator's header of this name: each function behaves like its
// counterpart in codegen/cuda/kernels/mlc_hopper.cuh, which says what it does.
//
// Registers of products are given by address. So the sanitizer checks each use
// of them, and a use before the product is complete is found.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_HOPPER_CUH
#define MLC_HOPPER_CUH

#define __grid_constant__

/// Tells the emulator that the module's kernels need its finer order.
extern "C" {
__attribute__((visibility("default"),
               weak)) extern const int mlcEmulatorOrdered = 1;
}

/// A parameter that is not copied, so that the compiler passes its address.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
  TensorMap(const TensorMap &);
};

struct tf32 {
  uint32_t bits;
};
struct e4m3 {
  uint8_t bits;
};

extern "C" unsigned mlcEmulatorSharedAddress(const void *memory);

MLC_DEVICE unsigned sharedAddress(const void *memory) {
  return mlcEmulatorSharedAddress(memory);
}

//===----------------------------------------------------------------------===//
// Mbarriers and named barriers
//===----------------------------------------------------------------------===//

extern "C" void mlcEmulatorInitBarrier(uint64_t *barrier, unsigned arrivals);
extern "C" void mlcEmulatorEndBarrier(uint64_t *barrier);
extern "C" void mlcEmulatorFenceBarrierInit();
extern "C" void mlcEmulatorArrive(uint64_t *barrier, unsigned bytes);
extern "C" void mlcEmulatorWaitForPhase(uint64_t *barrier, int phase);
MLC_EMULATOR_TOGETHER void mlcEmulatorNamed(int id, int threads, bool waits);

MLC_DEVICE void initBarrier(uint64_t *barrier, unsigned arrivals) {
  mlcEmulatorInitBarrier(barrier, arrivals);
}
MLC_DEVICE void endBarrier(uint64_t *barrier) {
  mlcEmulatorEndBarrier(barrier);
}
MLC_DEVICE void fenceBarrierInit() { mlcEmulatorFenceBarrierInit(); }
MLC_DEVICE void arrive(uint64_t *barrier) { mlcEmulatorArrive(barrier, 0); }
MLC_DEVICE void arriveAndExpect(uint64_t *barrier, unsigned bytes) {
  mlcEmulatorArrive(barrier, bytes);
}
MLC_DEVICE void waitForPhase(uint64_t *barrier, int phase) {
  mlcEmulatorWaitForPhase(barrier, phase);
}

MLC_DEVICE void syncNamed(int id, int threads) {
  mlcEmulatorNamed(id, threads, true);
}
MLC_DEVICE void arriveNamed(int id, int threads) {
  mlcEmulatorNamed(id, threads, false);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

extern "C" void mlcEmulatorSetRegisters(int count, bool raises);

template <int count> MLC_DEVICE void raiseRegisters() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0);
  mlcEmulatorSetRegisters(count, true);
}
template <int count> MLC_DEVICE void dropRegisters() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0);
  mlcEmulatorSetRegisters(count, false);
}

//===----------------------------------------------------------------------===//
// The copy engine
//===----------------------------------------------------------------------===//

/// Five coordinates, and three offsets of an im2col copy.
struct mlcEmulatorPlace {
  int at[5];
  uint16_t offsets[3];
};
extern "C" void mlcEmulatorFenceAsync();
extern "C" void mlcEmulatorCopyTensor(void *to, const TensorMap *map,
                                      uint64_t *barrier, int rank, bool pixels,
                                      mlcEmulatorPlace place);
extern "C" void mlcEmulatorCopyBulk(void *to, const void *from, unsigned bytes,
                                    uint64_t *barrier);
extern "C" void mlcEmulatorStoreTensor(const TensorMap *map, const void *from,
                                       int rank, mlcEmulatorPlace place);
extern "C" void mlcEmulatorStoreBulk(void *to, const void *from,
                                     unsigned bytes);
extern "C" void mlcEmulatorCommitStores();
extern "C" void mlcEmulatorWaitForStores(unsigned pending, bool written);

MLC_DEVICE void fenceAsyncProxy() { mlcEmulatorFenceAsync(); }
MLC_DEVICE void prefetchMap(const TensorMap *map) {}

MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x) {
  mlcEmulatorCopyTensor(to, map, barrier, 1, false, {{x}, {}});
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y) {
  mlcEmulatorCopyTensor(to, map, barrier, 2, false, {{x, y}, {}});
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y, int z) {
  mlcEmulatorCopyTensor(to, map, barrier, 3, false, {{x, y, z}, {}});
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y, int z, int u) {
  mlcEmulatorCopyTensor(to, map, barrier, 4, false, {{x, y, z, u}, {}});
}
MLC_DEVICE void copyTensor(void *to, const TensorMap *map, uint64_t *barrier,
                           int x, int y, int z, int u, int v) {
  mlcEmulatorCopyTensor(to, map, barrier, 5, false, {{x, y, z, u, v}, {}});
}
MLC_DEVICE void copyPixels(void *to, const TensorMap *map, uint64_t *barrier,
                           int c, int w, int n, uint16_t s) {
  mlcEmulatorCopyTensor(to, map, barrier, 3, true, {{c, w, n}, {s}});
}
MLC_DEVICE void copyPixels(void *to, const TensorMap *map, uint64_t *barrier,
                           int c, int w, int h, int n, uint16_t s, uint16_t r) {
  mlcEmulatorCopyTensor(to, map, barrier, 4, true, {{c, w, h, n}, {s, r}});
}
MLC_DEVICE void copyPixels(void *to, const TensorMap *map, uint64_t *barrier,
                           int c, int w, int h, int d, int n, uint16_t s,
                           uint16_t r, uint16_t q) {
  mlcEmulatorCopyTensor(to, map, barrier, 5, true,
                        {{c, w, h, d, n}, {s, r, q}});
}
MLC_DEVICE void copyBulk(void *to, const void *from, unsigned bytes,
                         uint64_t *barrier) {
  mlcEmulatorCopyBulk(to, from, bytes, barrier);
}

MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x) {
  mlcEmulatorStoreTensor(map, from, 1, {{x}, {}});
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y) {
  mlcEmulatorStoreTensor(map, from, 2, {{x, y}, {}});
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y, int z) {
  mlcEmulatorStoreTensor(map, from, 3, {{x, y, z}, {}});
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y, int z, int u) {
  mlcEmulatorStoreTensor(map, from, 4, {{x, y, z, u}, {}});
}
MLC_DEVICE void storeTensor(const TensorMap *map, const void *from, int x,
                            int y, int z, int u, int v) {
  mlcEmulatorStoreTensor(map, from, 5, {{x, y, z, u, v}, {}});
}
MLC_DEVICE void storeBulk(void *to, const void *from, unsigned bytes) {
  mlcEmulatorStoreBulk(to, from, bytes);
}
MLC_DEVICE void commitStores() { mlcEmulatorCommitStores(); }
template <int pending> MLC_DEVICE void waitForStoreReads() {
  static_assert(pending >= 0);
  mlcEmulatorWaitForStores(pending, false);
}
template <int pending> MLC_DEVICE void waitForStores() {
  static_assert(pending >= 0);
  mlcEmulatorWaitForStores(pending, true);
}

//===----------------------------------------------------------------------===//
// Matrices to shared memory
//===----------------------------------------------------------------------===//

MLC_EMULATOR_TOGETHER void
mlcEmulatorStoreMatrices(void *row, uint64_t low, uint64_t high, unsigned site);

MLC_DEVICE void storeMatrices(void *row, const uint32_t (&from)[4],
                              unsigned line = __builtin_LINE(),
                              unsigned column = __builtin_COLUMN()) {
  mlcEmulatorStoreMatrices(row, from[0] | uint64_t(from[1]) << 32,
                           from[2] | uint64_t(from[3]) << 32,
                           line << 12 | column);
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//

MLC_EMULATOR_TOGETHER void mlcEmulatorFenceProducts();
MLC_EMULATOR_TOGETHER void mlcEmulatorCommitProducts();
extern "C" void mlcEmulatorWaitForProducts(unsigned pending);
/// `kind` is that of mlcEmulatorMultiplyAdd(), or 8 for e4m3; `flags` are 1 for
/// a across K, 2 for b, 4 to add. `rows` is null if a is in shared memory.
extern "C" void mlcEmulatorProduct(unsigned kind, int half, void *d,
                                   const uint32_t *rows, uint64_t a, uint64_t b,
                                   unsigned flags, unsigned site);

MLC_DEVICE void fenceProducts() { mlcEmulatorFenceProducts(); }
MLC_DEVICE void commitProducts() { mlcEmulatorCommitProducts(); }
template <int pending> MLC_DEVICE void waitForProducts() {
  static_assert(pending >= 0 && pending < 8);
  mlcEmulatorWaitForProducts(pending);
}

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

template <typename T, typename U> constexpr bool isType = false;
template <typename T> constexpr bool isType<T, T> = true;

template <typename T, bool aAcross, bool bAcross>
constexpr unsigned mlcEmulatorKindOf() {
  constexpr bool wide = isType<T, f16> || isType<T, bf16>;
  static_assert(wide || isType<T, tf32> || isType<T, e4m3>,
                "a type of factors");
  static_assert(wide || (!aAcross && !bAcross), "only 16 bits lie across K");
  return isType<T, f16> ? 0 : isType<T, bf16> ? 1 : isType<T, tf32> ? 2 : 8;
}
constexpr bool mlcEmulatorHasColumns(int half) {
  return half == 4 || (half <= 64 && half % 16 == 0) || half == 96 ||
         half == 128;
}

template <typename T, bool aAcross = false, bool bAcross = false, int half>
MLC_DEVICE void multiplyTiles(float (&d)[half], unsigned long long a,
                              unsigned long long b, bool add,
                              unsigned line = __builtin_LINE(),
                              unsigned column = __builtin_COLUMN()) {
  static_assert(mlcEmulatorHasColumns(half), "no product has so many columns");
  mlcEmulatorProduct(mlcEmulatorKindOf<T, aAcross, bAcross>(), half, d, nullptr,
                     a, b, aAcross | bAcross << 1 | add << 2,
                     line << 12 | column);
}

template <typename T, bool bAcross = false, int half>
MLC_DEVICE void multiplyRows(float (&d)[half], const uint32_t (&a)[4],
                             unsigned long long b, bool add,
                             unsigned line = __builtin_LINE(),
                             unsigned column = __builtin_COLUMN()) {
  static_assert(mlcEmulatorHasColumns(half), "no product has so many columns");
  mlcEmulatorProduct(mlcEmulatorKindOf<T, false, bAcross>(), half, d, a, 0, b,
                     bAcross << 1 | add << 2, line << 12 | column);
}

template <bool aSigned, bool bSigned, int half>
MLC_DEVICE void multiplyTilesOfBytes(int (&d)[half], unsigned long long a,
                                     unsigned long long b, bool add,
                                     unsigned line = __builtin_LINE(),
                                     unsigned column = __builtin_COLUMN()) {
  static_assert(mlcEmulatorHasColumns(half), "no product has so many columns");
  mlcEmulatorProduct(4 + 2 * aSigned + bSigned, half, d, nullptr, a, b,
                     add << 2, line << 12 | column);
}

#endif // MLC_HOPPER_CUH
