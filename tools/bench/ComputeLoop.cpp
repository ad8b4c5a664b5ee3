//===- ComputeLoop.cpp - Work that one core does without memory ----------===//
//
//   mlc-bench-loop MILLISECONDS
//
// As many multiply-adds on registers as an idle core of some GHz does in about
// that long; always the same number, so that the time tells how fast the core
// was. Two at once tell what a second core is worth (compare_ort.py).
//
//===----------------------------------------------------------------------===//

#include "tools/bench/MachineRates.h"
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  char *end = nullptr;
  double milliseconds = argc == 2 ? std::strtod(argv[1], &end) : 0;
  if (argc != 2 || *end != '\0' || !(milliseconds > 0 && milliseconds < 1e5)) {
    std::fprintf(stderr, "usage: mlc-bench-loop MILLISECONDS\n");
    return 2;
  }
  mlc::bench::computeFor(milliseconds * 1e-3);
  return 0;
}
