//===- Driver.h - The functions of CUDA's driver ----------------*- C++ -*-===//
//
// The part of the driver's interface that the runtime uses, declared here so
// that it builds without CUDA. The functions are loaded at run time from
// NVIDIA's library or from the emulator's, which exports the same names.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_DRIVER_H
#define MLC_RUNTIME_CUDA_DRIVER_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace mlc::runtime::cuda {

// Types, values and names are CUDA's. Only results that are distinguished here
// or that the emulator returns have names.
enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_SOURCE = 300,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999,
};

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
/// The largest of the values of default streams; the others are 0 and 1.
constexpr uintptr_t CU_STREAM_PER_THREAD = 2;
/// For cuStreamBeginCapture: ignores what other threads do.
constexpr int CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1;
constexpr unsigned CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2;

/// What a launch may have besides its size. The layout is CUDA's.
struct CUlaunchAttribute {
  int id;
  int padding;
  union {
    char all[64];
    int isSerializationProgrammatic;
  } value;
};
constexpr int CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6;
struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned attributeCount;
};

// X(name, parameters) for each function; all return a CUresult.
// clang-format off
#define MLC_CUDA_DRIVER_FUNCTIONS(X)                                           \
  X(cuInit, (unsigned flags))                                                  \
  X(cuDriverGetVersion, (int *version))                                        \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (CUdevice *device, int ordinal))                              \
  X(cuDeviceGetName, (char *name, int length, CUdevice device))                \
  X(cuDeviceGetPCIBusId, (char *id, int length, CUdevice device))              \
  X(cuDeviceGetAttribute,                                                      \
    (int *value, CUdevice_attribute attribute, CUdevice device))               \
  X(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))           \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                           \
  X(cuCtxSetCurrent, (CUcontext context))                                      \
  X(cuMemAlloc_v2, (CUdeviceptr *memory, size_t bytes))                        \
  X(cuMemFree_v2, (CUdeviceptr memory))                                        \
  X(cuMemAllocHost_v2, (void **memory, size_t bytes))                          \
  X(cuMemFreeHost, (void *memory))                                             \
  X(cuMemcpyHtoDAsync_v2,                                                      \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))         \
  X(cuMemcpyDtoHAsync_v2,                                                      \
    (void *to, CUdeviceptr from, size_t bytes, CUstream stream))               \
  X(cuMemcpyDtoDAsync_v2,                                                      \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))         \
  X(cuStreamCreate, (CUstream *stream, unsigned flags))                        \
  X(cuStreamDestroy_v2, (CUstream stream))                                     \
  X(cuStreamGetCtx, (CUstream stream, CUcontext *context))                     \
  X(cuStreamSynchronize, (CUstream stream))                                    \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))       \
  X(cuStreamBeginCapture_v2, (CUstream stream, int mode))                      \
  X(cuStreamEndCapture, (CUstream stream, CUgraph *graph))                     \
  X(cuGraphInstantiateWithFlags,                                               \
    (CUgraphExec *exec, CUgraph graph, unsigned long long flags))              \
  X(cuGraphDestroy, (CUgraph graph))                                           \
  X(cuGraphExecDestroy, (CUgraphExec exec))                                    \
  X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                        \
  X(cuModuleLoadData, (CUmodule *module, const void *image))                   \
  X(cuModuleUnload, (CUmodule module))                                         \
  X(cuModuleGetFunction,                                                       \
    (CUfunction *function, CUmodule module, const char *name))                 \
  X(cuFuncSetAttribute,                                                        \
    (CUfunction function, CUfunction_attribute attribute, int value))          \
  X(cuLaunchKernel,                                                            \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,      \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     CUstream stream, void **parameters, void **extra))                        \
  X(cuEventCreate, (CUevent *event, unsigned flags))                           \
  X(cuEventDestroy_v2, (CUevent event))                                        \
  X(cuEventRecord, (CUevent event, CUstream stream))                           \
  X(cuEventSynchronize, (CUevent event))                                       \
  X(cuEventQuery, (CUevent event))                                             \
  X(cuEventElapsedTime, (float *milliseconds, CUevent from, CUevent to))       \
  X(cuGetErrorName, (CUresult result, const char **text))                      \
  X(cuGetErrorString, (CUresult result, const char **text))
// The same for functions that older drivers lack (before CUDA 12).
// Enumerations are CUDA's: type, interleave, swizzle, promotion, fill.
#define MLC_CUDA_DRIVER_OPTIONAL_FUNCTIONS(X)                                  \
  X(cuTensorMapEncodeTiled,                                                    \
    (void *map, int type, unsigned rank, void *address, const uint64_t *dims,  \
     const uint64_t *strides, const uint32_t *box, const uint32_t *steps,      \
     int interleave, int swizzle, int promotion, int fill))                    \
  X(cuTensorMapEncodeIm2col,                                                   \
    (void *map, int type, unsigned rank, void *address, const uint64_t *dims,  \
     const uint64_t *strides, const int *lower, const int *upper,              \
     unsigned channels, unsigned pixels, const uint32_t *steps,                \
     int interleave, int swizzle, int promotion, int fill))                    \
  X(cuLaunchKernelEx,                                                          \
    (const CUlaunchConfig *config, CUfunction function, void **parameters,     \
     void **extra))
// clang-format on

/// The table of functions. It outlives all objects made with it.
struct Driver {
#define MLC_CUDA_DRIVER_MEMBER(name, parameters)                               \
  std::add_pointer_t<CUresult parameters> name = nullptr;
  MLC_CUDA_DRIVER_FUNCTIONS(MLC_CUDA_DRIVER_MEMBER)
  /// Null if the driver lacks them.
  MLC_CUDA_DRIVER_OPTIONAL_FUNCTIONS(MLC_CUDA_DRIVER_MEMBER)
#undef MLC_CUDA_DRIVER_MEMBER

  /// Whether the functions are the emulator's, whatever the library's name.
  bool isEmulator = false;

  /// Loads the functions from `library`, which stays loaded. `remedy` says what
  /// to do if that fails.
  Status load(const char *library, const char *remedy);
  /// Call before other functions. `remedy`, which may be empty, says what to do
  /// on failure.
  Status initialize(const char *remedy);

  /// "CUDA error 2 (CUDA_ERROR_OUT_OF_MEMORY): out of memory".
  std::string describe(CUresult result) const;
  /// Success, or an error with `what` and the description: MLC_RESOURCES if
  /// memory is short, else MLC_DEVICE.
  Status check(CUresult result, const char *what) const {
    return result == CUDA_SUCCESS ? Status::success() : error(result, what);
  }
  Status error(CUresult result, const std::string &what) const;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_DRIVER_H
