//===- ComputeLoop.cpp - Work that one core does without memory -----------===//
//
//   mlc-bench-loop MILLISECONDS
//   mlc-bench-loop --round-trip
//   mlc-bench-loop --peak
//
// The first form runs as many multiply-adds in registers as an idle core of
// some GHz does in about that time. The number is fixed, so that the time tells
// the speed of the core. Two at once tell how much a second core helps
// (compare_ort.py). The second form prints the nanoseconds of a cache line's
// round trip between two threads, which tells how close the host placed two
// cores. The third prints a core's rate of multiply-adds, in GFLOP/s.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu.h"
#include "tools/bench/MachineRates.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--round-trip")) {
    if (mlc::runtime::usableCores() < 2) {
      std::fprintf(stderr, "mlc-bench-loop: error: --round-trip needs two "
                           "cores; this process may use one\n");
      return 2;
    }
    std::printf("%.0f\n", mlc::bench::measureRoundTrip() * 1e9);
    return 0;
  }
  if (argc == 2 && !std::strcmp(argv[1], "--peak")) {
    unsigned bits = __builtin_cpu_supports("avx512f") ? 512 : 256;
    std::printf("%.1f\n", mlc::bench::measurePeakFlops(bits) * 1e-9);
    return 0;
  }
  char *end = nullptr;
  double milliseconds = argc == 2 ? std::strtod(argv[1], &end) : 0;
  if (argc != 2 || *end != '\0' || !(milliseconds > 0 && milliseconds < 1e5)) {
    std::fprintf(
        stderr, "usage: mlc-bench-loop MILLISECONDS | --round-trip | --peak\n");
    return 2;
  }
  mlc::bench::computeFor(milliseconds * 1e-3);
  return 0;
}
