//===- Cuda.cpp - The emulator as libcuda.so.1, with a fault --------------===//
//
// Found by LD_LIBRARY_PATH, it is the emulator, whose functions come with it. A
// stream whose number, in the order in which streams are made, is
// $MLC_TEST_DEAF_STREAM or more than it ("2+") waits for no events: a test
// whose results do not change by that does not see whether it does.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Cuda.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>

namespace {

std::mutex mutex;
std::map<CUstream, long> streams;

template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

bool isDeaf(CUstream stream) {
  const char *deaf = std::getenv("MLC_TEST_DEAF_STREAM");
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = streams.find(stream);
  if (!deaf || found == streams.end())
    return false;
  char *end = nullptr;
  const long number = std::strtol(deaf, &end, 10);
  return found->second == number || (*end == '+' && found->second > number);
}

} // namespace

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  static auto *const real =
      next<CUresult(CUstream *, unsigned)>("cuStreamCreate");
  const CUresult result = real(stream, flags);
  const std::lock_guard<std::mutex> lock(mutex);
  if (!result)
    streams.emplace(*stream, static_cast<long>(streams.size()));
  return result;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  static auto *const real =
      next<CUresult(CUstream, CUevent, unsigned)>("cuStreamWaitEvent");
  return isDeaf(stream) ? 0 : real(stream, event, flags);
}
