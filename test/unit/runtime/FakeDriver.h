//===- FakeDriver.h - CUDA's driver without a GPU ---------------*- C++ -*-===//
//
// A table of the driver's functions over GPUs that are not there. Their memory
// is of addresses that the host must not follow, their streams do nothing
// before somebody waits, their modules' code is the name of a function of this
// process, any call can be made to fail, and what is not given back is counted.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_UNIT_RUNTIME_FAKEDRIVER_H
#define MLC_TEST_UNIT_RUNTIME_FAKEDRIVER_H

#include "runtime/cuda/Driver.h"

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace mlc::test {

struct FakeLaunch {
  std::string kernel;
  unsigned grid, block, shared;
  std::vector<uint64_t> words;
  /// Whether it may begin before the one in front has ended.
  bool isOverlapped = false;
};
using FakeKernel = void (*)(const FakeLaunch &launch);

class FakeDriver {
public:
  /// The kernels that a module can name.
  std::map<std::string, FakeKernel> kernels;
  /// Those that take tensor maps, and how many. After them each takes seven
  /// words.
  std::map<std::string, unsigned> numMaps;
  /// How many GPUs there are, one or two, and what they are.
  int devices = 1;
  int version = 12040;
  int major = 9, minor = 0, multiprocessors = 2, maxShared = 227 * 1024;

  /// All calls so far by name, and how many.
  std::map<std::string, unsigned> counts;
  unsigned calls = 0;
  /// The call with this number fails once, with this result; 0: none does.
  unsigned failAt = 0;
  runtime::cuda::CUresult failWith = runtime::cuda::CUDA_ERROR_UNKNOWN;
  /// So does the next call of this function.
  std::string failName;
  /// The function that has been made to fail.
  std::string failed;
  /// What the next wait for a stream returns.
  runtime::cuda::CUresult streamResult = runtime::cuda::CUDA_SUCCESS;
  /// What has been misused: wrong handles, no context.
  std::vector<std::string> misuses;
  std::vector<FakeLaunch> launches;

  /// "" if nothing is held.
  std::string held() const;
  /// Where `bytes` of the device's memory lie; null where there are none.
  uint8_t *host(uint64_t address, uint64_t bytes) const;

  // The insides, for the functions of the table.
  std::map<uint8_t *, size_t> memory, pinned;
  using Work = std::vector<std::function<void()>>;
  std::map<void *, Work> streams;
  std::map<void *, runtime::cuda::CUcontext> streamContexts;
  /// What is captured, by stream, and what was.
  std::map<void *, Work> captures;
  std::set<Work *> graphs, execs;
  std::set<std::string *> modules, functions;
  std::set<uint64_t *> events;
  /// Those that have been recorded and have not happened, and where.
  std::map<uint64_t *, void *> recorded;
  int contexts = 0;
  uint64_t clock = 0;
};

/// The one of this process, as it begins.
FakeDriver &freshDriver();
const runtime::cuda::Driver &fakeTable();

/// Counts a call of that function, and says whether it shall fail.
runtime::cuda::CUresult fakeCall(const char *name, bool needsContext = true);

// Of the table (FakeCalls.cpp): functions that hold nothing. A map's words are
// its address, its rank, the first dim and the first stride; the others are 7.
runtime::cuda::CUresult fakeEncodeTiled(void *map, int, unsigned rank,
                                        void *address, const uint64_t *dims,
                                        const uint64_t *strides,
                                        const uint32_t *, const uint32_t *, int,
                                        int, int, int);
runtime::cuda::CUresult fakeEncodePixels(void *map, int, unsigned rank,
                                         void *address, const uint64_t *dims,
                                         const uint64_t *strides, const int *,
                                         const int *, unsigned, unsigned,
                                         const uint32_t *, int, int, int, int);

runtime::cuda::CUresult fakeErrorName(runtime::cuda::CUresult result,
                                      const char **text);
runtime::cuda::CUresult fakeErrorString(runtime::cuda::CUresult result,
                                        const char **text);

} // namespace mlc::test

#endif // MLC_TEST_UNIT_RUNTIME_FAKEDRIVER_H
