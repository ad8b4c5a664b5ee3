//===- Memory.cpp - Memory of the devices, and copies ---------------------===//

#include "runtime/emulator/Calls.h"
#include "runtime/emulator/Driver.h"
#include "runtime/emulator/Finding.h"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

using namespace mlc::emulator;

namespace {

void *pointer(CUdeviceptr address) {
  return reinterpret_cast<void *>(uintptr_t(address));
}

/// Whether all bytes are of one cuMemAllocHost_v2(). Only pinned memory may be
/// read and written later; other memory is copied at once.
bool isPinned(const void *memory, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  auto found = driver.hostMemory.upper_bound(address);
  if (found == driver.hostMemory.begin())
    return false;
  --found;
  size_t offset = address - found->first, all = found->second.bytes;
  return offset <= all && bytes <= all - offset;
}

} // namespace

CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
  MLC_CALL(Context);
  if (driver.isForbidden())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!memory || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  uintptr_t address = currentContext->arena.allocate(bytes);
  if (!address)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = address;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  MLC_CALL(Context);
  if (driver.isForbidden())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!memory)
    return CUDA_SUCCESS;
  driver.runAll();
  Arena *arena = driver.arenaOf(memory, 1);
  return arena && arena->free(uintptr_t(memory)) ? CUDA_SUCCESS
                                                 : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
  MLC_CALL(Context);
  if (driver.isForbidden())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!memory || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  constexpr size_t page = 4096;
  if (bytes > SIZE_MAX - page)
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *block = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (!block)
    return CUDA_ERROR_OUT_OF_MEMORY;
  driver.hostMemory[reinterpret_cast<uintptr_t>(block)] = {bytes,
                                                           currentContext};
  *memory = block;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *memory) {
  MLC_CALL(Context);
  if (driver.isForbidden())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!memory)
    return CUDA_SUCCESS;
  driver.runAll();
  if (!driver.hostMemory.erase(reinterpret_cast<uintptr_t>(memory)))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(memory);
  return CUDA_SUCCESS;
}

CUresult mlcEmulatorAccess(CUdeviceptr memory, size_t bytes, int writes) {
  MLC_CALL(Initialized);
  if (!bytes)
    return CUDA_SUCCESS;
  const char *what = writes ? "a library writes " : "a library reads ";
  Arena *arena = driver.arenaOf(memory, bytes);
  if (!arena) {
    addToReport("mlc emulator: " + (what + std::to_string(bytes)) +
                " bytes at an address where no allocation has them\n");
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  if (writes)
    arena->mark(uintptr_t(memory), bytes, true, true);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
  MLC_CALL(Context);
  if (!driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes)
    return CUDA_SUCCESS;
  countBytes(__func__, bytes);
  Arena *arena = driver.arenaOf(to, bytes);
  if (!from || !arena)
    return CUDA_ERROR_INVALID_VALUE;
  auto copy = [arena, to, bytes](const void *source) {
    std::memcpy(pointer(to), source, bytes);
    arena->mark(uintptr_t(to), bytes, true, true);
    return CUDA_SUCCESS;
  };
  if (isPinned(from, bytes))
    return driver.submit(stream, [copy, from] { return copy(from); });
  auto *begin = static_cast<const uint8_t *>(from);
  auto staged = std::make_shared<std::vector<uint8_t>>(begin, begin + bytes);
  return driver.submit(stream, [copy, staged] { return copy(staged->data()); });
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  MLC_CALL(Context);
  if (!driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes)
    return CUDA_SUCCESS;
  countBytes(__func__, bytes);
  if (!to || !driver.arenaOf(from, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = driver.submit(stream, [to, from, bytes] {
    std::memcpy(to, pointer(from), bytes);
    return CUDA_SUCCESS;
  });
  // Only copies to pinned memory may happen later.
  if (result != CUDA_SUCCESS || isPinned(to, bytes) || !stream ||
      stream->capture)
    return result;
  stream->run();
  return stream->takeError();
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  MLC_CALL(Context);
  if (!driver.isStream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes)
    return CUDA_SUCCESS;
  countBytes(__func__, bytes);
  // Source and target may be on different devices.
  Arena *target = driver.arenaOf(to, bytes),
        *source = driver.arenaOf(from, bytes);
  if (!target || !source)
    return CUDA_ERROR_INVALID_VALUE;
  return driver.submit(stream, [=] {
    std::memmove(pointer(to), pointer(from), bytes);
    target->copyMarks(uintptr_t(to), *source, uintptr_t(from), bytes);
    return CUDA_SUCCESS;
  });
}
