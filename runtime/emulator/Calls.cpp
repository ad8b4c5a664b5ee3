//===- Calls.cpp - Counts of the driver's calls ---------------------------===//

#include "runtime/emulator/Calls.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>

namespace mlc::emulator {

namespace {

struct Count {
  uint64_t calls = 0, bytes = 0;
};

class Counts {
public:
  ~Counts() {
    const char *folder = std::getenv("MLC_EMULATOR_CALLS");
    if (!folder || !*folder || all.empty())
      return;
    std::ofstream file(std::string(folder) + "/" + std::to_string(getpid()));
    for (const auto &[function, count] : all)
      file << function << ' ' << count.calls << ' ' << count.bytes << '\n';
  }
  std::map<std::string, Count, std::less<>> all;
};

Counts counts;

} // namespace

void countCall(const char *function) { ++counts.all[function].calls; }

void countBytes(const char *function, size_t bytes) {
  counts.all[function].bytes += bytes;
}

} // namespace mlc::emulator
