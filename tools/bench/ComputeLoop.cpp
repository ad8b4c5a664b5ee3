//===- ComputeLoop.cpp - Work that one core does without memory ----------===//
//
//   mlc-bench-loop MILLISECONDS
//   mlc-bench-loop --fork-join
//
// As many multiply-adds on registers as an idle core of some GHz does in about
// that long; always the same number, so that the time tells how fast the core
// was. Two at once tell what a second core is worth (compare_ort.py). The other
// form prints the nanoseconds of an empty loop on two threads of the runtime's
// pool: how near to each other the host has put two cores.
//
//===----------------------------------------------------------------------===//

#include "tools/bench/MachineRates.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--fork-join")) {
    std::printf("%.0f\n", mlc::bench::measureForkJoin(2) * 1e9);
    return 0;
  }
  char *end = nullptr;
  double milliseconds = argc == 2 ? std::strtod(argv[1], &end) : 0;
  if (argc != 2 || *end != '\0' || !(milliseconds > 0 && milliseconds < 1e5)) {
    std::fprintf(stderr,
                 "usage: mlc-bench-loop MILLISECONDS | --fork-join\n");
    return 2;
  }
  mlc::bench::computeFor(milliseconds * 1e-3);
  return 0;
}
