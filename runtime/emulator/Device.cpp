//===- Device.cpp - The device, its context and errors --------------------===//

#include "runtime/emulator/Calls.h"
#include "runtime/emulator/Driver.h"
#include "runtime/emulator/Execution.h"
#include "runtime/emulator/Finding.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace mlc::emulator {

Driver driver;
/// What is wrong with the environment, found by the last cuInit().
static std::string environmentError;
thread_local CUcontext currentContext = nullptr;

Call::Call(const char *function, Needs needs) : lock(driver.mutex) {
  countCall(function);
  error = injectedFailure(function);
  if (error)
    return;
  if (needs != Nothing && !driver.initialized)
    error = CUDA_ERROR_NOT_INITIALIZED;
  else if (needs == Context && (!currentContext || !currentContext->users))
    error = CUDA_ERROR_INVALID_CONTEXT;
}

Arena *Driver::arenaOf(CUdeviceptr address, size_t bytes) {
  for (CUctx_st &device : devices)
    if (device.arena.contains(uintptr_t(address), bytes))
      return &device.arena;
  return nullptr;
}

/// Removes the context's objects; `end` frees each. Returns their number.
template <typename Set, typename End>
static size_t take(Set &set, CUcontext context, End end) {
  size_t count = 0;
  for (auto it = set.begin(); it != set.end();) {
    auto next = std::next(it);
    if ((*it)->context == context) {
      auto item = *it;
      set.erase(it);
      end(item);
      ++count;
    }
    it = next;
  }
  return count;
}

void Driver::closeContext(CUcontext context) {
  runAll();
  std::string left;
  auto count = [&](size_t n, const char *what) {
    if (n)
      left += (left.empty() ? "" : ", ") + std::to_string(n) + " " + what;
  };
  auto remove = [](auto *item) { delete item; };
  Arena &memory = context->arena;
  std::string sizes;
  for (const auto &[start, bytes] : memory.allocations())
    sizes += (sizes.empty() ? "; bytes: " : ", ") + std::to_string(bytes);
  count(memory.allocations().size(), "allocations");
  while (!memory.allocations().empty())
    memory.free(memory.allocations().begin()->first);
  size_t numHost = 0;
  for (auto it = hostMemory.begin(); it != hostMemory.end();) {
    if (it->second.context != context) {
      ++it;
      continue;
    }
    std::free(reinterpret_cast<void *>(it->first));
    it = hostMemory.erase(it);
    ++numHost;
  }
  count(numHost, "allocations of the host's memory");
  count(take(modules, context,
             [&](CUmodule module) {
               for (const auto &function : module->functions)
                 functions.erase(function.get());
               module->code.unload();
               delete module;
             }),
        "modules");
  count(take(streams, context, remove), "streams");
  count(take(events, context, remove), "events");
  count(take(graphs, context, remove), "graphs");
  count(take(execs, context, remove), "graphs that can be launched");
  if (!left.empty())
    addToReport("mlc emulator: leak: at the end of the context there are " +
                left + sizes + "\n");
}

} // namespace mlc::emulator

using namespace mlc::emulator;

CUresult cuInit(unsigned flags) {
  MLC_CALL(Nothing);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  environmentError = wrongEnvironment();
  if (!environmentError.empty()) {
    addToReport("mlc emulator: " + environmentError + "\n");
    return MLC_ERROR_ENVIRONMENT;
  }
  driver.initialized = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  MLC_CALL(Nothing);
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 12090;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  MLC_CALL(Initialized);
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = int(deviceCount());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  MLC_CALL(Initialized);
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!driver.isDevice(ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  MLC_CALL(Initialized);
  if (!driver.isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, size_t(length), "mlc emulator (sm_%u)", architecture());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  MLC_CALL(Initialized);
  if (!driver.isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!id || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(id, size_t(length), "0000:%02x:00.0", unsigned(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  MLC_CALL(Initialized);
  if (!driver.isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  struct Row {
    int attribute, value;
  };
  const int shared = int(maxSharedMemory());
  const Row rows[] = {
      {1, 1024},                     // threads of a block
      {2, 1024},                     // of its x
      {3, 1024},                     // of its y
      {4, 64},                       // of its z
      {5, 0x7fffffff},               // blocks of a grid's x
      {6, 65535},                    // of its y
      {7, 65535},                    // of its z
      {8, int(defaultSharedMemory)}, // shared memory of a block
      {9, 65536},                    // constant memory
      {10, 32},                      // threads of a warp
      {11, 0x7fffffff},              // pitch of copies
      {12, 65536},                   // registers of a block
      {13, 1000000},                 // clock rate, kHz
      {14, 512},                     // alignment of textures
      {15, 1},                       // copies overlap kernels
      {16, 4},                       // multiprocessors
      {17, 0},                       // time limit of kernels
      {18, 0},                       // integrated
      {19, 1},                       // can map the host's memory
      {20, 0},                       // compute mode: default
      {31, 1},                       // concurrent kernels
      {32, 1},                       // error correction
      {36, 1000000},                 // clock rate of the memory, kHz
      {37, 64},                      // width of its bus, bits
      {38, 1 << 20},                 // L2 cache
      {39, 2048},                    // threads of a multiprocessor
      {40, 1},                       // copy engines
      {41, 1},                       // unified addressing
      {75, int(architecture() / 10)},
      {76, int(architecture() % 10)},
      {78, 0},             // priorities of streams
      {81, shared + 1024}, // shared memory of a multiprocessor
      {82, 65536},         // its registers
      {83, 0},             // managed memory
      {97, shared},        // shared memory of a block on request
      {111, 1024},         // reserved by the system
  };
  for (const Row &row : rows)
    if (row.attribute == attribute) {
      *value = row.value;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  MLC_CALL(Initialized);
  if (!driver.isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  CUctx_st &primary = driver.devices[device];
  if (!primary.arena.open(device) || !execution.fibers.open())
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++primary.users;
  *context = &primary;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  MLC_CALL(Initialized);
  if (!driver.isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  CUctx_st &primary = driver.devices[device];
  if (!primary.users)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!--primary.users)
    driver.closeContext(&primary);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  MLC_CALL(Initialized);
  bool isKnown = !context;
  for (CUctx_st &device : driver.devices)
    isKnown |= context == &device && device.users;
  if (!isKnown)
    return CUDA_ERROR_INVALID_CONTEXT;
  currentContext = context;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
  case CUDA_SUCCESS:
    *name = "CUDA_SUCCESS";
    return CUDA_SUCCESS;
  case MLC_ERROR_ENVIRONMENT:
    *name = "MLC_ERROR_ENVIRONMENT";
    return CUDA_SUCCESS;
#define MLC_EMULATOR_NAME(number, text, _)                                     \
  case number:                                                                 \
    *name = "CUDA_ERROR_" #text;                                               \
    return CUDA_SUCCESS;
    MLC_EMULATOR_ERRORS(MLC_EMULATOR_NAME)
#undef MLC_EMULATOR_NAME
  }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
  case CUDA_SUCCESS:
    *text = "no error";
    return CUDA_SUCCESS;
  case MLC_ERROR_ENVIRONMENT:
    *text = environmentError.c_str();
    return CUDA_SUCCESS;
#define MLC_EMULATOR_TEXT(number, _, meaning)                                  \
  case number:                                                                 \
    *text = meaning;                                                           \
    return CUDA_SUCCESS;
    MLC_EMULATOR_ERRORS(MLC_EMULATOR_TEXT)
#undef MLC_EMULATOR_TEXT
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

void mlcEmulatorFail(const char *what) {
  std::string wrong = setFailures(what);
  if (!wrong.empty())
    addToReport("mlc emulator: mlcEmulatorFail: " + wrong + "\n");
}
