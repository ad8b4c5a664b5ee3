//===- BarrierTest.cpp - Mbarriers, named barriers, and their order -------===//

#include "Gpu.h"

using namespace mlc::test;
using Catch::Contains;

namespace {

constexpr CUresult failed = 719;

/// A kernel with an mbarrier behind 1 KiB of shared memory. Its body is line 5.
std::string body(const std::string &text) {
  return "#include \"mlc_hopper.cuh\"\n"
         "MLC_KERNEL(k)(int *in, int *out) { int t = threadIdx.x, warp = t / "
         "32; int *shared = (int *)sharedMemory();\n"
         "uint64_t *barrier = (uint64_t *)(shared + 256); (void)barrier;\n" +
         text + "\n}";
}

/// Runs the kernel under some seeds; each report must contain `texts`, or be
/// empty if there are none.
void expectReport(const std::string &source, unsigned threads,
                  const std::vector<std::string> &texts) {
  INFO(source);
  Gpu gpu;
  CUfunction kernel = gpu.kernel(source);
  CUdeviceptr in = gpu.upload(std::vector<int>(256, 7));
  for (const char *seed : {"0", "1", "2"}) {
    Variable variable("MLC_EMULATOR_SEED", seed);
    CUdeviceptr out = gpu.upload(std::vector<int>(1024));
    CHECK(gpu.launch(kernel, {1, threads, 1024 + 64}, {in, out}) ==
          (texts.empty() ? 0 : failed));
    std::string report = gpu.report();
    CHECK(report.empty() == texts.empty());
    for (const std::string &text : texts)
      CHECK_THAT(report, Contains(text));
  }
}

void expectFinding(const std::string &source, unsigned threads,
                   const std::vector<std::string> &texts) {
  expectReport(source, threads, texts);
}

void expectNone(const std::string &source, unsigned threads) {
  expectReport(source, threads, {});
}

const char *const made = "if (t == 0) { initBarrier(barrier, COUNT); "
                         "fenceBarrierInit(); } syncBlock();\n";
std::string withBarrier(const std::string &count, const std::string &text) {
  std::string start = made;
  start.replace(start.find("COUNT"), 5, count);
  return body(start + text);
}

} // namespace

TEST_CASE("an ordered kernel has the barriers of others", "[barriers]") {
  expectNone(body("shared[t] = t; syncBlock(); out[t] = shared[t ^ 33];"), 64);
  expectNone(body("shared[t] = t; syncWarp(); out[t] = shared[t ^ 3];"), 64);
  expectFinding(body("shared[t] = t; syncWarp(); out[t] = shared[t ^ 33];"), 64,
                {"race"});
  expectFinding(body("shared[t] = t; out[t] = shared[t ^ 1];"), 32, {"race"});
  expectFinding(body("if (warp) syncBlock();"), 64, {"divergent barrier"});
}

TEST_CASE("a named barrier orders those that take part", "[barriers]") {
  expectNone(body("if (warp < 2) { shared[t] = t; syncNamed(3, 64);\n"
                  "out[t] = shared[t ^ 33]; }"),
             96);
  // Who only arrives is ordered before the others, not behind them.
  expectNone(body("if (warp == 0) { shared[t] = t; arriveNamed(3, 64); }\n"
                  "if (warp == 1) { syncNamed(3, 64); out[t] = shared[t - 32]; "
                  "}"),
             64);
  expectFinding(body("shared[t] = t;\n"
                     "if (warp == 0) { arriveNamed(3, 64); out[t] = shared[t + "
                     "32]; }\n"
                     "if (warp == 1) syncNamed(3, 64);"),
                64, {"race"});
  expectFinding(body("if (warp < 2) { shared[t] = t; syncNamed(3, 64); }\n"
                     "if (warp == 2) out[t] = shared[0];"),
                96, {""});
  expectFinding(body("if (warp == 0) syncNamed(3, 64);"), 64,
                {"deadlock", "named barrier 3", "32 of 64 threads"});
  expectFinding(body("syncNamed(0, 64);"), 64, {"misuse", "one of 1 to 15"});
  expectFinding(body("syncNamed(1, 33);"), 64, {"misuse", "whole warps"});
}

TEST_CASE("all readers of a word count", "[barriers]") {
  // Three warps read what the first then writes again.
  const std::string start = "if (t == 0) shared[0] = 1; syncBlock();\n"
                            "out[t] = shared[0];\n";
  expectNone(body(start + "syncNamed(2, 96); if (t == 0) shared[0] = 2;"), 96);
  expectFinding(body(start + "if (warp < 2) syncNamed(2, 64);\n"
                             "if (t == 0) shared[0] = 2;"),
                96, {"race"});
  expectFinding(body("if (t == 0) ((short *)shared)[0] = 1; syncBlock();\n"
                     "out[t] = ((short *)shared)[0];\n"
                     "if (warp < 2) syncNamed(2, 64);\n"
                     "if (t == 0) ((short *)shared)[0] = 2;"),
                96, {"race"});
}

TEST_CASE("an mbarrier orders arrivals before waits", "[barriers]") {
  expectNone(withBarrier("32", "if (warp == 0) { shared[t] = t; "
                               "arrive(barrier); }\n"
                               "else { waitForPhase(barrier, 0); out[t] = "
                               "shared[t - 32]; }"),
             64);
  // Behind the arrival nothing is released.
  expectFinding(withBarrier("32", "if (warp == 0) { arrive(barrier); shared[t] "
                                  "= t; }\n"
                                  "else { waitForPhase(barrier, 0); out[t] = "
                                  "shared[t - 32]; }"),
                64, {""});
  // In turns, through both phases of parity: all have waited for a phase before
  // the next one begins.
  expectNone(withBarrier("1", "for (int i = 0; i < 6; ++i) {\n"
                              "if (t == i) { shared[0] = i; arrive(barrier); "
                              "}\n"
                              "waitForPhase(barrier, i);\n"
                              "if (t == i + 1) out[i] = shared[0]; syncWarp(); "
                              "}"),
             32);
}

TEST_CASE("a lane that arrives for its warp", "[barriers]") {
  const std::string behind = " if (t == 0) arrive(barrier); }\n"
                             "else { waitForPhase(barrier, 0); out[t] = "
                             "shared[t - 32]; }";
  expectNone(
      withBarrier("1", "if (warp == 0) { shared[t] = t; syncWarp();" + behind),
      64);
  expectFinding(withBarrier("1", "if (warp == 0) { shared[t] = t;" + behind),
                64, {""});
  // Reads count as well: they are not over when the lane arrives.
  expectFinding(withBarrier("1", "if (warp == 0) shared[t] = t; syncBlock();\n"
                                 "if (warp == 0) { out[t] = shared[t];\n"
                                 "if (t == 0) arrive(barrier); }\n"
                                 "else { waitForPhase(barrier, 0); shared[t - "
                                 "32] = 0; }"),
                64, {"race"});
  // A lane that has waited has not done so for the others.
  expectFinding(withBarrier("1", "if (t == 32) { shared[0] = 1; "
                                 "arrive(barrier); }\n"
                                 "if (t == 0) waitForPhase(barrier, 0);\n"
                                 "if (warp == 0) out[t] = shared[0];"),
                64, {""});
}

TEST_CASE("mbarriers that are misused", "[barriers]") {
  auto expect = [](const std::string &source, const char *text) {
    expectFinding(source, 32, {"misuse of an instruction", text});
  };
  expect(body("arrive(barrier);"), "did not make one");
  expect(body("if (t == 0) initBarrier(barrier, 0);"), "1 to 1048575 arrivals");
  expect(body("if (t == 0) initBarrier((uint64_t *)(shared + 1), 1);"),
         "multiple of 8 in shared memory");
  expect(withBarrier("1", "if (t == 0) initBarrier(barrier, 1);"),
         "endBarrier() did not end");
  expect(withBarrier("1", "if (t == 0) { arriveAndExpect(barrier, 16); "
                          "arrive(barrier); }"),
         "all 1 have arrived in phase 0");
  expect(withBarrier("2", "if (t < 2) arriveAndExpect(barrier, 1000000);"),
         "at most 1048575 bytes, not 2000000");
  expect(withBarrier("1", "if (t == 0) { *barrier = 0; arrive(barrier); }"),
         "memory was overwritten");
  expect(withBarrier("1", "if (t == 0) { arrive(barrier); arrive(barrier);\n"
                          "waitForPhase(barrier, 0); }"),
         "in phase 2, and its parity does not tell phase 0");
  expect(withBarrier("1", "if (t == 0) waitForPhase(barrier, 1);"),
         "in phase 0, and its parity does not tell phase 1");
  expect(withBarrier("1", "if (t == 0) { endBarrier(barrier); "
                          "arrive(barrier); }"),
         "did not make one");
  // Ended, it may be made again.
  expectNone(withBarrier("1", "if (t == 0) { endBarrier(barrier); *barrier = "
                              "1; initBarrier(barrier, 2); }"),
             32);
}

TEST_CASE("an mbarrier that others do not see yet", "[barriers]") {
  expectFinding(body("if (t == 0) { initBarrier(barrier, 64); }\n"
                     "if (warp == 0) syncWarp(); arrive(barrier);"),
                64, {""});
}

TEST_CASE("threads that wait for each other", "[barriers]") {
  expectFinding(withBarrier("33", "if (warp == 0) { arrive(barrier); "
                                  "waitForPhase(barrier, 0); }\n"
                                  "else syncNamed(1, 64);"),
                64,
                {"deadlock", "threads 0 to 31 wait for phase 0 of the mbarrier",
                 "lacks 1 of 33 arrivals",
                 "threads 32 to 63 wait at named barrier 1", ".cu:6:"});
}

TEST_CASE("registers that warpgroups ask for", "[barriers]") {
  expectNone(body("if (warp < 4) dropRegisters<40>(); else "
                  "raiseRegisters<232>();"),
             384);
  expectFinding(body("if (warp < 4) dropRegisters<40>(); else "
                     "raiseRegisters<240>();"),
                384, {"66560 registers"});
  expectFinding(body("if (warp) raiseRegisters<40>();"), 128,
                {"not all threads of a warpgroup"});
  expectFinding(body("if (warp) raiseRegisters<40>(); else "
                     "raiseRegisters<48>();"),
                128, {"asks for other registers"});
}
