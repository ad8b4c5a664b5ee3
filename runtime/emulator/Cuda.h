//===- Cuda.h - The driver functions that the emulator answers --*- C++ -*-===//
//
// Our own declarations of CUDA's driver interface as far as mlc uses it: names,
// signatures and numbers are those of libcuda.so.1. The emulator's own
// functions are at the end.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_CUDA_H
#define MLC_RUNTIME_EMULATOR_CUDA_H

#include <cstddef>
#include <cstdint>

#define MLC_EMULATOR_API __attribute__((visibility("default")))

extern "C" {

/// A number and not an enumeration, since callers have their own.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

struct CUlaunchAttribute {
  int id;
  int padding;
  union {
    char all[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int isSerializationProgrammatic;
  } value;
};
struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned attributeCount;
};

MLC_EMULATOR_API CUresult cuInit(unsigned flags);
MLC_EMULATOR_API CUresult cuDriverGetVersion(int *version);
MLC_EMULATOR_API CUresult cuDeviceGetCount(int *count);
MLC_EMULATOR_API CUresult cuDeviceGet(CUdevice *device, int ordinal);
MLC_EMULATOR_API CUresult cuDeviceGetName(char *name, int length,
                                          CUdevice device);
MLC_EMULATOR_API CUresult cuDeviceGetPCIBusId(char *id, int length,
                                              CUdevice device);
MLC_EMULATOR_API CUresult cuDeviceGetAttribute(int *value, int attribute,
                                               CUdevice device);
MLC_EMULATOR_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context,
                                                   CUdevice device);
MLC_EMULATOR_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
MLC_EMULATOR_API CUresult cuCtxSetCurrent(CUcontext context);

MLC_EMULATOR_API CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes);
MLC_EMULATOR_API CUresult cuMemFree_v2(CUdeviceptr memory);
MLC_EMULATOR_API CUresult cuMemAllocHost_v2(void **memory, size_t bytes);
MLC_EMULATOR_API CUresult cuMemFreeHost(void *memory);
MLC_EMULATOR_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from,
                                               size_t bytes, CUstream stream);
MLC_EMULATOR_API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from,
                                               size_t bytes, CUstream stream);
MLC_EMULATOR_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                               size_t bytes, CUstream stream);

MLC_EMULATOR_API CUresult cuStreamCreate(CUstream *stream, unsigned flags);
MLC_EMULATOR_API CUresult cuStreamDestroy_v2(CUstream stream);
MLC_EMULATOR_API CUresult cuStreamGetCtx(CUstream stream, CUcontext *context);
MLC_EMULATOR_API CUresult cuStreamSynchronize(CUstream stream);
MLC_EMULATOR_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event,
                                            unsigned flags);
MLC_EMULATOR_API CUresult cuLaunchHostFunc(CUstream stream,
                                           void (*function)(void *),
                                           void *data);
MLC_EMULATOR_API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
MLC_EMULATOR_API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
MLC_EMULATOR_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec,
                                                      CUgraph graph,
                                                      unsigned long long flags);
MLC_EMULATOR_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
MLC_EMULATOR_API CUresult cuGraphDestroy(CUgraph graph);
MLC_EMULATOR_API CUresult cuGraphExecDestroy(CUgraphExec exec);
MLC_EMULATOR_API CUresult cuEventCreate(CUevent *event, unsigned flags);
MLC_EMULATOR_API CUresult cuEventDestroy_v2(CUevent event);
MLC_EMULATOR_API CUresult cuEventRecord(CUevent event, CUstream stream);
MLC_EMULATOR_API CUresult cuEventQuery(CUevent event);
MLC_EMULATOR_API CUresult cuEventSynchronize(CUevent event);
MLC_EMULATOR_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                                             CUevent end);

MLC_EMULATOR_API CUresult cuModuleLoadData(CUmodule *module, const void *image);
MLC_EMULATOR_API CUresult cuModuleUnload(CUmodule module);
MLC_EMULATOR_API CUresult cuModuleGetFunction(CUfunction *function,
                                              CUmodule module,
                                              const char *name);
MLC_EMULATOR_API CUresult cuFuncSetAttribute(CUfunction function, int attribute,
                                             int value);
MLC_EMULATOR_API CUresult cuLaunchKernel(CUfunction function, unsigned gridX,
                                         unsigned gridY, unsigned gridZ,
                                         unsigned blockX, unsigned blockY,
                                         unsigned blockZ, unsigned sharedBytes,
                                         CUstream stream, void **parameters,
                                         void **extra);
/// Of attributes, those of programmatic stream serialization (6) and of
/// clusters of one block (4) are known.
MLC_EMULATOR_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config,
                                           CUfunction function,
                                           void **parameters, void **extra);
/// Makes a map of 128 bytes; the enumerations are those of CUDA.
MLC_EMULATOR_API CUresult cuTensorMapEncodeTiled(
    void *map, int type, unsigned rank, void *address, const uint64_t *dims,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
    int interleave, int swizzle, int promotion, int fill);
MLC_EMULATOR_API CUresult cuTensorMapEncodeIm2col(
    void *map, int type, unsigned rank, void *address, const uint64_t *dims,
    const uint64_t *strides, const int *lower, const int *upper,
    unsigned channels, unsigned pixels, const uint32_t *steps, int interleave,
    int swizzle, int promotion, int fill);
MLC_EMULATOR_API CUresult cuGetErrorName(CUresult error, const char **name);
MLC_EMULATOR_API CUresult cuGetErrorString(CUresult error, const char **text);

/// Runs a function of this process on a grid. Its parameters are tensor maps of
/// 16 words, and then one word each. A program built against the emulator
/// contains its own kernels.
MLC_EMULATOR_API CUresult mlcEmulatorLaunch(
    const void *kernel, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    const uint64_t *words, size_t count);
/// The findings since the last mlcEmulatorClearReport(), as text; empty if
/// none. The text is valid until the next call of either.
MLC_EMULATOR_API const char *mlcEmulatorReport();
MLC_EMULATOR_API void mlcEmulatorClearReport();
/// "cuMemAlloc_v2:3" makes the third call from now on fail; a suffix `=2` sets
/// the error. Commas separate several; an empty text clears all.
MLC_EMULATOR_API void mlcEmulatorFail(const char *what);
/// For a library that works on device memory without kernels, in a function of
/// cuLaunchHostFunc: declares that it reads or has written that many bytes.
/// Memory that is not within one allocation is reported, and an error.
MLC_EMULATOR_API CUresult mlcEmulatorAccess(CUdeviceptr memory, size_t bytes,
                                            int writes);
/// How many kernel accesses this process has checked.
MLC_EMULATOR_API uint64_t mlcEmulatorAccesses();
/// A figure of a kernel over its launches so far ("global_loads.sectors",
/// "blocks"; runtime/emulator/Counts.h), 0 if there is none. Launches count
/// if MLC_EMULATOR_COUNTERS names a file.
MLC_EMULATOR_API uint64_t mlcEmulatorCounted(const char *kernel,
                                             const char *figure);
}

namespace mlc::emulator {

/// The results that the emulator returns: number, name without CUDA_ERROR_,
/// text.
// clang-format off
#define MLC_EMULATOR_ERRORS(row)                                               \
  row(1, INVALID_VALUE, "invalid argument")                                    \
  row(2, OUT_OF_MEMORY, "out of memory")                                       \
  row(3, NOT_INITIALIZED, "initialization error")                              \
  row(101, INVALID_DEVICE, "invalid device ordinal")                           \
  row(200, INVALID_IMAGE, "device kernel image is invalid")                    \
  row(201, INVALID_CONTEXT, "invalid device context")                          \
  row(209, NO_BINARY_FOR_GPU,                                                  \
      "no kernel image is available for execution on the device")              \
  row(218, INVALID_PTX, "a PTX JIT compilation failed")                        \
  row(221, JIT_COMPILER_NOT_FOUND, "the compiler was not found")               \
  row(222, UNSUPPORTED_PTX_VERSION,                                            \
      "the provided PTX was compiled with an unsupported toolchain.")          \
  row(300, INVALID_SOURCE, "device kernel source is invalid")                  \
  row(304, OPERATING_SYSTEM, "OS call failed")                                 \
  row(400, INVALID_HANDLE, "invalid resource handle")                          \
  row(401, ILLEGAL_STATE,                                                      \
      "the operation cannot be performed in the present state")                \
  row(500, NOT_FOUND, "named symbol not found")                                \
  row(600, NOT_READY, "device not ready")                                      \
  row(700, ILLEGAL_ADDRESS, "an illegal memory access was encountered")        \
  row(701, LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch") \
  row(716, MISALIGNED_ADDRESS, "misaligned address")                           \
  row(719, LAUNCH_FAILED, "unspecified launch failure")                        \
  row(801, NOT_SUPPORTED, "operation not supported")                           \
  row(900, STREAM_CAPTURE_UNSUPPORTED,                                         \
      "operation not permitted when stream is capturing")                      \
  row(901, STREAM_CAPTURE_INVALIDATED,                                         \
      "operation failed due to a previous error during capture")               \
  row(907, CAPTURED_EVENT,                                                     \
      "operation not permitted on an event last recorded in a capturing "      \
      "stream")                                                                \
  row(908, STREAM_CAPTURE_WRONG_THREAD,                                        \
      "attempt to terminate a thread-local capture sequence from another "     \
      "thread")                                                                \
  row(999, UNKNOWN, "unknown error")
// clang-format on

constexpr CUresult CUDA_SUCCESS = 0;
/// Not one of CUDA's: an environment variable has an invalid value.
/// cuGetErrorString() tells which one, and the valid values.
constexpr CUresult MLC_ERROR_ENVIRONMENT = 10001;
#define MLC_EMULATOR_ERROR(number, name, text)                                 \
  constexpr CUresult CUDA_ERROR_##name = number;
MLC_EMULATOR_ERRORS(MLC_EMULATOR_ERROR)
#undef MLC_EMULATOR_ERROR

/// The attributes that need names; the others are in Device.cpp.
constexpr int maxDynamicSharedAttribute = 8; // of a function

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_CUDA_H
