//===- FakeCalls.cpp - What the fake driver does without holding it -------===//

#include "FakeDriver.h"

#include <algorithm>
#include <cstring>

namespace mlc::test {

using namespace runtime::cuda;

static CUresult encode(CUresult result, void *map, unsigned rank, void *address,
                       const uint64_t *dims, const uint64_t *strides) {
  if (result == CUDA_SUCCESS && reinterpret_cast<uintptr_t>(map) % 64)
    result = CUDA_ERROR_INVALID_VALUE;
  if (result != CUDA_SUCCESS)
    return result;
  std::fill_n(static_cast<uint64_t *>(map), 16, 7);
  const uint64_t words[] = {reinterpret_cast<uintptr_t>(address), rank, dims[0],
                            rank > 1 ? strides[0] : 0};
  std::memcpy(map, words, sizeof(words));
  return result;
}

CUresult fakeEncodeTiled(void *map, int, unsigned rank, void *address,
                         const uint64_t *dims, const uint64_t *strides,
                         const uint32_t *, const uint32_t *, int, int, int,
                         int) {
  return encode(fakeCall("cuTensorMapEncodeTiled"), map, rank, address, dims,
                strides);
}

CUresult fakeEncodePixels(void *map, int, unsigned rank, void *address,
                          const uint64_t *dims, const uint64_t *strides,
                          const int *, const int *, unsigned, unsigned,
                          const uint32_t *, int, int, int, int) {
  return encode(fakeCall("cuTensorMapEncodeIm2col"), map, rank, address, dims,
                strides);
}

CUresult fakeErrorName(CUresult result, const char **text) {
  *text = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                             : "CUDA_ERROR_FAKE";
  return fakeCall("cuGetErrorName", false);
}

CUresult fakeErrorString(CUresult, const char **text) {
  *text = "made to fail";
  return fakeCall("cuGetErrorString", false);
}

std::string FakeDriver::held() const {
  std::string text;
  auto add = [&](const char *what, size_t count) {
    if (count)
      text += std::to_string(count) + " " + what + " ";
  };
  add("allocations", memory.size());
  add("pinned", pinned.size());
  add("streams", streams.size());
  add("modules", modules.size());
  add("events", events.size());
  add("graphs", graphs.size());
  add("graphs to launch", execs.size());
  add("contexts", contexts);
  return text;
}

} // namespace mlc::test
