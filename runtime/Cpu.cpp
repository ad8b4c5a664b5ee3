//===- Cpu.cpp - What this CPU can run ------------------------------------===//

#include "runtime/Cpu.h"

#include <cpuid.h>
#include <sched.h>

#include <cstdint>

#if !defined(__x86_64__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the runtime is for x86-64"
#endif

namespace mlc::runtime {

namespace {

enum Register : uint8_t { EAX, EBX, ECX, EDX };
/// The register state that the operating system must save (bits of XCR0).
enum State : uint8_t { Plain = 0, Ymm = 6, Zmm = 0xe6 };
constexpr uint64_t amxState = 0x60000;

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  State state;
};

// From Intel's and AMD's manuals, instruction CPUID.
constexpr Feature features[] = {
    {"sse3", 1, 0, ECX, 0, Plain},
    {"pclmul", 1, 0, ECX, 1, Plain},
    {"ssse3", 1, 0, ECX, 9, Plain},
    {"fma", 1, 0, ECX, 12, Ymm},
    {"cx16", 1, 0, ECX, 13, Plain},
    {"sse4.1", 1, 0, ECX, 19, Plain},
    {"sse4.2", 1, 0, ECX, 20, Plain},
    {"movbe", 1, 0, ECX, 22, Plain},
    {"popcnt", 1, 0, ECX, 23, Plain},
    {"aes", 1, 0, ECX, 25, Plain},
    {"xsave", 1, 0, ECX, 26, Plain},
    {"avx", 1, 0, ECX, 28, Ymm},
    {"f16c", 1, 0, ECX, 29, Ymm},
    {"sse", 1, 0, EDX, 25, Plain},
    {"sse2", 1, 0, EDX, 26, Plain},
    {"bmi", 7, 0, EBX, 3, Plain},
    {"avx2", 7, 0, EBX, 5, Ymm},
    {"bmi2", 7, 0, EBX, 8, Plain},
    {"avx512f", 7, 0, EBX, 16, Zmm},
    {"avx512dq", 7, 0, EBX, 17, Zmm},
    {"avx512ifma", 7, 0, EBX, 21, Zmm},
    {"avx512cd", 7, 0, EBX, 28, Zmm},
    {"avx512bw", 7, 0, EBX, 30, Zmm},
    {"avx512vl", 7, 0, EBX, 31, Zmm},
    {"avx512vbmi", 7, 0, ECX, 1, Zmm},
    {"avx512vbmi2", 7, 0, ECX, 6, Zmm},
    {"gfni", 7, 0, ECX, 8, Plain},
    {"vaes", 7, 0, ECX, 9, Ymm},
    {"vpclmulqdq", 7, 0, ECX, 10, Ymm},
    {"avx512vnni", 7, 0, ECX, 11, Zmm},
    {"avx512bitalg", 7, 0, ECX, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Zmm},
    {"avx512fp16", 7, 0, EDX, 23, Zmm},
    {"avxvnni", 7, 1, EAX, 4, Ymm},
    {"avx512bf16", 7, 1, EAX, 5, Zmm},
    {"avxifma", 7, 1, EAX, 23, Ymm},
    {"amx-bf16", 7, 0, EDX, 22, Zmm},
    {"amx-tile", 7, 0, EDX, 24, Zmm},
    {"amx-int8", 7, 0, EDX, 25, Zmm},
    {"lzcnt", 0x80000001, 0, ECX, 5, Plain},
};

const std::vector<std::string> levelV2 = {"cx16",  "popcnt", "sse3",
                                          "ssse3", "sse4.1", "sse4.2"};
const std::vector<std::string> levelV3 = {"avx",  "avx2", "bmi",   "bmi2",
                                          "f16c", "fma",  "lzcnt", "movbe"};
const std::vector<std::string> levelV4 = {"avx512f", "avx512bw", "avx512cd",
                                          "avx512dq", "avx512vl"};

uint64_t savedState() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

bool has(const Feature &f) {
  uint32_t r[4];
  if (!__get_cpuid_count(f.leaf, f.subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
    return false;
  uint64_t need = f.state;
  if (std::string(f.name).rfind("amx", 0) == 0)
    need = amxState;
  return (r[f.reg] >> f.bit & 1) && (savedState() & need) == need;
}

bool hasAll(const std::vector<std::string> &names) {
  return missingFeatures(names).empty();
}

} // namespace

bool cpuHas(const std::string &feature) {
  if (feature == "x86-64" || feature == "64bit" || feature == "cmov" ||
      feature == "cx8" || feature == "mmx" || feature == "fxsr")
    return true;
  if (feature == "x86-64-v2")
    return hasAll(levelV2);
  if (feature == "x86-64-v3")
    return hasAll(levelV2) && hasAll(levelV3);
  if (feature == "x86-64-v4")
    return hasAll(levelV2) && hasAll(levelV3) && hasAll(levelV4);
  for (const Feature &f : features)
    if (feature == f.name)
      return has(f);
  return false;
}

std::vector<std::string>
missingFeatures(const std::vector<std::string> &names) {
  std::vector<std::string> missing;
  for (const std::string &name : names)
    if (!cpuHas(name))
      missing.push_back(name);
  return missing;
}

std::string cpuLevel() {
  for (const char *level : {"x86-64-v4", "x86-64-v3", "x86-64-v2"})
    if (cpuHas(level))
      return level;
  return "x86-64";
}

unsigned usableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

} // namespace mlc::runtime
