//===- cuda_runtime.h - What emitted programs use of CUDA -------*- C++ -*-===//
//
// Stands in for CUDA's header of this name, for programs that `mlc compile
// --emit=cuda` writes: a host compiler builds them against this folder and
// libmlc_emulator, unchanged. The types, names and meanings are CUDA's.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_EMULATOR_CUDA_RUNTIME_H
#define MLC_EMULATOR_CUDA_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#define CUDART_VERSION 13000

#define __global__
#define __grid_constant__

typedef int cudaError_t;
constexpr cudaError_t cudaSuccess = 0;
typedef void *cudaStream_t;

enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
enum { cudaEnableDefault = 0 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
};

struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

// The emulator's own functions.
extern "C" {
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuMemAlloc_v2(unsigned long long *memory, size_t bytes);
int cuMemFree_v2(unsigned long long memory);
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                         void *stream);
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                         void *stream);
int cuStreamSynchronize(void *stream);
int cuGetErrorString(int error, const char **text);
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                           const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion,
                           int fill);
int cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address,
                            const uint64_t *dims, const uint64_t *strides,
                            const int *lower, const int *upper,
                            unsigned channels, unsigned pixels,
                            const uint32_t *steps, int interleave, int swizzle,
                            int promotion, int fill);
int mlcEmulatorLaunch(const void *kernel, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes,
                      const uint64_t *words, size_t count);
}

namespace mlc_emulator {

/// As CUDA's runtime does, the first call opens the device.
inline int open() {
  static int result = [] {
    void *context = nullptr;
    int error = cuInit(0);
    if (!error)
      error = cuDevicePrimaryCtxRetain(&context, 0);
    return error ? error : cuCtxSetCurrent(context);
  }();
  return result;
}

inline unsigned long long address(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

/// CUDA errors, and a device attribute.
constexpr int invalidValue = 1, symbolNotFound = 500, mostSharedMemory = 97;

/// Bytes of dynamic shared memory that kernels may use, if they asked.
inline std::map<const void *, size_t> &allowedShared() {
  static std::map<const void *, size_t> allowed;
  return allowed;
}

inline bool mayHaveShared(const void *kernel, size_t bytes) {
  auto asked = allowedShared().find(kernel);
  return bytes <=
         (asked == allowedShared().end() ? size_t(48) << 10 : asked->second);
}

/// Adds a parameter's words: one, or 16 of a tensor map.
template <typename T> void addWords(std::vector<uint64_t> &words, T value) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 128,
                "parameters have eight bytes, or are tensor maps");
  words.resize(words.size() + sizeof(T) / 8);
  std::memcpy(&words[words.size() - sizeof(T) / 8], &value, sizeof(T));
}

} // namespace mlc_emulator

inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
  unsigned long long place = 0;
  int error = mlc_emulator::open();
  if (!error)
    error = cuMemAlloc_v2(&place, bytes);
  *memory = reinterpret_cast<void *>(uintptr_t(place));
  return error;
}

inline cudaError_t cudaFree(void *memory) {
  return memory ? cuMemFree_v2(mlc_emulator::address(memory)) : cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize() {
  int error = mlc_emulator::open();
  return error ? error : cuStreamSynchronize(nullptr);
}

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                              cudaMemcpyKind kind) {
  int error = mlc_emulator::open();
  if (!error)
    error = kind == cudaMemcpyHostToDevice
                ? cuMemcpyHtoDAsync_v2(mlc_emulator::address(to), from, bytes,
                                       nullptr)
                : cuMemcpyDtoHAsync_v2(to, mlc_emulator::address(from), bytes,
                                       nullptr);
  return error ? error : cudaDeviceSynchronize();
}

inline const char *cudaGetErrorString(cudaError_t error) {
  const char *text = nullptr;
  return cuGetErrorString(error, &text) ? "unknown error" : text;
}

inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                          int device) {
  int error = mlc_emulator::open();
  return error ? error : cuDeviceGetAttribute(value, attribute, device);
}

/// Of the driver's functions, those that make tensor maps.
inline cudaError_t cudaGetDriverEntryPointByVersion(const char *name,
                                                    void **function, unsigned,
                                                    unsigned long long) {
  *function = std::strcmp(name, "cuTensorMapEncodeTiled") == 0
                  ? reinterpret_cast<void *>(&cuTensorMapEncodeTiled)
              : std::strcmp(name, "cuTensorMapEncodeIm2col") == 0
                  ? reinterpret_cast<void *>(&cuTensorMapEncodeIm2col)
                  : nullptr;
  return *function ? mlc_emulator::open() : mlc_emulator::symbolNotFound;
}

/// The limit is the device's; by default a kernel has 48 KiB.
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute, int value) {
  int error = mlc_emulator::open(), most = 0;
  if (!error)
    error = cuDeviceGetAttribute(&most, mlc_emulator::mostSharedMemory, 0);
  if (!error && (value < 0 || value > most))
    error = mlc_emulator::invalidValue;
  if (!error)
    mlc_emulator::allowedShared()[reinterpret_cast<const void *>(kernel)] =
        size_t(value);
  return error;
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                               void (*kernel)(Parameters...),
                               Arguments... arguments) {
  if (int error = mlc_emulator::open())
    return error;
  std::vector<uint64_t> words;
  (mlc_emulator::addWords(words, static_cast<Parameters>(arguments)), ...);
  const dim3 &grid = config->gridDim, &block = config->blockDim;
  auto *function = reinterpret_cast<const void *>(kernel);
  if (!mlc_emulator::mayHaveShared(function, config->dynamicSmemBytes))
    return mlc_emulator::invalidValue;
  return mlcEmulatorLaunch(function, grid.x, grid.y, grid.z, block.x, block.y,
                           block.z, unsigned(config->dynamicSmemBytes),
                           words.data(), words.size());
}

#endif // MLC_EMULATOR_CUDA_RUNTIME_H
