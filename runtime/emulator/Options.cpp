//===- Options.cpp - What the environment says to the emulator ------------===//

#include "runtime/emulator/Options.h"
#include "runtime/emulator/Cuda.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

namespace mlc::emulator {

namespace {

std::string_view environment(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

struct Failure {
  std::string function;
  uint64_t call;
  int error;
};

struct Failures {
  std::mutex mutex;
  bool read = false;
  std::vector<Failure> list;

  void set(std::string_view text) {
    read = true;
    list.clear();
    while (!text.empty()) {
      std::string item(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.size(), item.size() + 1));
      size_t colon = item.find(':'), equals = item.find('=');
      if (colon == std::string::npos)
        continue;
      std::string name = item.substr(0, colon);
      int error = name.rfind("cuMemAlloc", 0) == 0 ? CUDA_ERROR_OUT_OF_MEMORY
                                                   : CUDA_ERROR_UNKNOWN;
      if (equals != std::string::npos)
        error = int(std::strtol(item.c_str() + equals + 1, nullptr, 10));
      list.push_back(
          {name, std::strtoull(item.c_str() + colon + 1, nullptr, 10), error});
    }
  }
};

Failures failures;

} // namespace

bool checksOn() { return environment("MLC_EMULATOR_CHECKS") != "0"; }

uint64_t orderSeed() {
  const char *text = std::getenv("MLC_EMULATOR_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

bool launchBlocking() { return environment("CUDA_LAUNCH_BLOCKING") == "1"; }

unsigned architecture() {
  std::string_view text = environment("MLC_EMULATOR_ARCH");
  if (text.empty())
    return 90;
  if (text.substr(0, 3) == "sm_")
    text.remove_prefix(3);
  if (text.size() < 2 || text.size() > 3 ||
      !std::all_of(text.begin(), text.end(),
                   [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number >= 75 ? number : 0;
}

unsigned maxSharedMemory() {
  switch (architecture()) {
  case 75:
    return 64 << 10;
  case 80:
  case 87:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return anySharedMemory;
  }
}

int injectedFailure(const char *function) {
  std::lock_guard<std::mutex> lock(failures.mutex);
  if (!failures.read)
    failures.set(environment("MLC_EMULATOR_FAIL"));
  int error = 0;
  for (Failure &failure : failures.list)
    if (failure.function == function && failure.call) {
      --failure.call;
      if (!failure.call)
        error = failure.error;
    }
  return error;
}

void setFailures(const char *text) {
  std::lock_guard<std::mutex> lock(failures.mutex);
  failures.set(text ? text : "");
}

} // namespace mlc::emulator
