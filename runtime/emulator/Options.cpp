//===- Options.cpp - The emulator's environment variables -----------------===//

#include "runtime/emulator/Options.h"
#include "runtime/emulator/Cuda.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace mlc::emulator {

namespace {

std::string_view environment(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

/// Parses `text` as a number; all of it must match.
template <typename T> std::optional<T> parseNumber(std::string_view text) {
  T number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

struct Failure {
  std::string function;
  uint64_t call;
  int error;
};

/// "cuMemAlloc_v2:3" or "cuMemAlloc_v2:3=2".
std::optional<Failure> parseFailure(std::string_view item) {
  size_t colon = item.find(':');
  if (colon == 0 || colon == std::string_view::npos ||
      item.substr(0, 2) != "cu")
    return std::nullopt;
  std::string name(item.substr(0, colon));
  std::string_view call = item.substr(colon + 1);
  size_t equals = call.find('=');
  std::optional<int> error = name.rfind("cuMemAlloc", 0) == 0
                                 ? CUDA_ERROR_OUT_OF_MEMORY
                                 : CUDA_ERROR_UNKNOWN;
  if (equals != std::string_view::npos) {
    error = parseNumber<int>(call.substr(equals + 1));
    call = call.substr(0, equals);
  }
  auto number = parseNumber<uint64_t>(call);
  if (!number || !*number || !error || *error <= 0)
    return std::nullopt;
  return Failure{name, *number, *error};
}

struct Failures {
  std::mutex mutex;
  bool isSet = false;
  std::vector<Failure> list;
  std::string wrong; ///< the environment's error; empty if none

  /// Reads the environment unless failures were set.
  void read() {
    if (!isSet)
      wrong = set(environment("MLC_EMULATOR_FAIL"));
  }

  /// What is wrong with the text; empty if nothing is.
  std::string set(std::string_view text) {
    isSet = true;
    wrong.clear();
    list.clear();
    while (!text.empty()) {
      std::string_view item = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), item.size() + 1));
      std::optional<Failure> failure = parseFailure(item);
      if (!failure) {
        list.clear();
        return "'" + std::string(item) +
               "' names no call that shall fail; expected "
               "FUNCTION:CALL or FUNCTION:CALL=ERROR with numbers from 1 on, "
               "as in cuMemAlloc_v2:3=2, and commas between several";
      }
      list.push_back(*failure);
    }
    return "";
  }
};

Failures failures;

} // namespace

std::string wrongEnvironment() {
  auto wrong = [](const char *name, const char *expected) {
    return std::string(name) + " is '" + std::string(environment(name)) +
           "'; expected " + expected;
  };
  auto isNumber = [](const char *name) {
    std::string_view text = environment(name);
    return text.empty() || parseNumber<uint64_t>(text);
  };
  if (!architecture())
    return wrong("MLC_EMULATOR_ARCH", "sm_75 or later, as in sm_90");
  if (!deviceCount())
    return wrong("MLC_EMULATOR_DEVICES", "a number from 1 to 16");
  if (!isNumber("MLC_EMULATOR_SEED"))
    return wrong("MLC_EMULATOR_SEED", "a number, 0 for the plain order");
  std::string_view checks = environment("MLC_EMULATOR_CHECKS");
  if (!checks.empty() && checks != "0" && checks != "1")
    return wrong("MLC_EMULATOR_CHECKS", "0 or 1");
  std::string file = countersFile();
  if (!file.empty() && !checksOn())
    return "MLC_EMULATOR_COUNTERS needs the checks of accesses, but "
           "MLC_EMULATOR_CHECKS is 0";
  if (!file.empty() && !std::ofstream(file, std::ios::app))
    return wrong("MLC_EMULATOR_COUNTERS", "a file that can be written");
  std::string_view blocking = environment("CUDA_LAUNCH_BLOCKING");
  if (!blocking.empty() && blocking != "0" && blocking != "1")
    return wrong("CUDA_LAUNCH_BLOCKING", "0 or 1");
  std::string_view overlap = environment("MLC_EMULATOR_OVERLAP");
  if (!overlap.empty() && overlap != "0" && overlap != "1")
    return wrong("MLC_EMULATOR_OVERLAP", "0 or 1");
  std::string folder(environment("MLC_EMULATOR_CALLS"));
  if (!folder.empty() && access(folder.c_str(), W_OK | X_OK) != 0)
    return wrong("MLC_EMULATOR_CALLS", "a folder that can be written");
  std::lock_guard<std::mutex> lock(failures.mutex);
  failures.read();
  return failures.wrong.empty() ? "" : "MLC_EMULATOR_FAIL: " + failures.wrong;
}

bool checksOn() { return environment("MLC_EMULATOR_CHECKS") != "0"; }

std::string countersFile() {
  return std::string(environment("MLC_EMULATOR_COUNTERS"));
}

uint64_t orderSeed() {
  return parseNumber<uint64_t>(environment("MLC_EMULATOR_SEED")).value_or(0);
}

unsigned deviceCount() {
  std::string_view text = environment("MLC_EMULATOR_DEVICES");
  unsigned count = text.empty() ? 1 : parseNumber<unsigned>(text).value_or(0);
  return count <= maxDevices ? count : 0;
}

bool overlapsLaunches() { return environment("MLC_EMULATOR_OVERLAP") == "1"; }

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
  failures.read();
  int error = 0;
  for (Failure &failure : failures.list)
    if (failure.function == function && failure.call) {
      --failure.call;
      if (!failure.call)
        error = failure.error;
    }
  return error;
}

std::string setFailures(const char *text) {
  std::lock_guard<std::mutex> lock(failures.mutex);
  return failures.set(text ? text : "");
}

} // namespace mlc::emulator
