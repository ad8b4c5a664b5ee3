//===- HopperFaultsTest.cpp - Single faults in a kernel of sm_90a ---------===//
//
// Each fault must be found in at least one order of the threads: by a report,
// or because the result is wrong. The table says how.
//
//===----------------------------------------------------------------------===//

#include "Hopper.h"

using namespace mlc::test;
using Catch::Contains;

namespace {

struct Fault {
  const char *name;
  const char *from, *to; ///< all places of the text are changed
  const char *found;     ///< a part of the report; null: a wrong result
};

const Fault faults[] = {
    // The factors.
    {"a descriptor's swizzle", "describeTile<128>(from,",
     "describeTile<64>(from,", nullptr},
    {"the advance along K", "x + 2 * i", "x + i", nullptr},
    {"leading and stride exchanged", "(from + tile, 16, 1024)",
     "(from + tile, 1024, 16)", nullptr},
    {"the sums of the tile before", "k > 0 || i > 0", "true", nullptr},
    {"sums that begin again", "k > 0 || i > 0", "i > 0", nullptr},
    {"a step too few", "(depth + inRow - 1) / inRow", "depth / inRow", nullptr},
    {"coordinates exchanged", "k * inRow, row)", "row, k * inRow)", nullptr},
    {"a result without swizzle", "/ 16 ^ (r & 7)", "/ 16", nullptr},
    {"tiles that are not aligned", "tiles += -sharedAddress(tiles) & 1023;", "",
     "base offset"},
    // Phases of mbarriers.
    {"a consumer waits for the phase before", "(full + stage, use)",
     "(full + stage, use - 1)", "race"},
    {"a consumer waits for the phase behind", "(full + stage, use)",
     "(full + stage, use + 1)", "its parity does not tell"},
    {"a consumer's phase of another barrier", "(full + stage, use)",
     "(full + (stage + 1) % stages, use)", "race"},
    {"a producer waits for no consumer", "(empty + stage, use - 1)",
     "(empty + stage, use - 2)", "its parity does not tell"},
    {"a producer waits too long", "(empty + stage, use - 1)",
     "(empty + stage, use)", "deadlock"},
    {"a consumer counts one stage less",
     "step % stages, use = step / stages;\n        waitForPhase(full",
     "step % 2, use = step / 2;\n        waitForPhase(full", ""},
    {"too few bytes expected", "arriveAndExpect(full + stage, 2 * tile)",
     "arriveAndExpect(full + stage, tile)", "too few bytes"},
    {"too many bytes expected", "arriveAndExpect(full + stage, 2 * tile)",
     "arriveAndExpect(full + stage, 3 * tile)", "deadlock"},
    {"an arrival too many for a phase", "initBarrier(empty + i, 4)",
     "initBarrier(empty + i, 3)", ""},
    {"an arrival too few", "initBarrier(empty + i, 4)",
     "initBarrier(empty + i, 5)", "deadlock"},
    {"all lanes arrive", "if (k > 0 && lane == 0)", "if (k > 0)", ""},
    {"no release within a tile", "if (k > 0 && lane == 0)", "if (k > 9)",
     "deadlock"},
    {"barriers that copies do not see", "fenceBarrierInit();", "",
     "no fenceBarrierInit()"},
    {"no barrier behind the first thread's", "syncBlock();", "",
     "uses an mbarrier"},
    // Waits and fences.
    {"a release before the product is complete", "waitForProducts<1>();", "",
     "race"},
    {"a release one product early", "waitForProducts<1>();",
     "waitForProducts<2>();", "race"},
    {"the release of the product that runs", "(step - 1) % stages);\n      }",
     "step % stages);\n      }", ""},
    {"sums that are not complete", "waitForProducts<0>();", "",
     "use of registers of a product"},
    {"products without a fence", "fenceProducts();", "", "no fenceProducts()"},
    {"products that are not committed", "commitProducts();", "",
     "use of registers of a product"},
    {"a result that the store does not see", "fenceAsyncProxy();", "",
     "no fenceAsyncProxy()"},
    {"a store before all have written",
     "syncNamed(1, 128);\n      if (leader) {", "if (leader) {", "race"},
    {"a result over one that is still read",
     "waitForStoreReads<0>();\n      syncNamed(1, 128);",
     "waitForStoreReads<0>();", "race"},
    {"no wait for the store before",
     "if (leader)\n        waitForStoreReads<0>();", "", "race"},
    {"a block that ends before its stores",
     "if (leader)\n      waitForStoreReads<0>();", "", "did not wait for"},
    {"stores that are not committed", "commitStores();", "", ""},
    {"a named barrier for more threads", "syncNamed(1, 128);",
     "syncNamed(1, 160);", "deadlock"},
    {"two counts of a named barrier",
     "fenceAsyncProxy();\n      syncNamed(1, 128);",
     "fenceAsyncProxy();\n      syncNamed(1, warp & 1 ? 128 : 64);", ""},
    // Collective instructions.
    {"a warp that issues another product", "multiplyTiles<Factor>(d, x + 2 * i",
     "multiplyTiles<Factor>(d, x + 2 * (warp == 5 ? 0 : i)",
     "issue one product together"},
    {"a warp that issues none", "commitProducts();",
     "commitProducts(); if (warp == 6) continue;", ""},
    {"a warp with other registers", "raiseRegisters<232>();",
     "if (warp != 7) raiseRegisters<232>();", "not all threads"},
};

/// Replaces all; there must be one.
std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Whether some order finds it.
void expectFound(Gemm gemm, const Fault &fault) {
  INFO(fault.name);
  Gpu gpu;
  CUfunction kernel = gpu.kernel(replaced(gemm.source(), fault.from, fault.to));
  std::string reports;
  bool isWrong = false;
  for (const char *seed : {"0", "1", "2"}) {
    Variable variable("MLC_EMULATOR_SEED", seed);
    CUresult status = gemm.run(gpu, kernel);
    isWrong |= !status && !(gemm.error() < 0.05);
    reports += gpu.report();
    CHECK((status != 0) == (reports != ""));
    if (status)
      break;
  }
  if (fault.found)
    CHECK_THAT(reports, Contains(fault.found));
  else
    CHECK(reports == "");
  CHECK((isWrong || !reports.empty()));
}

} // namespace

TEST_CASE("faults of a product by warpgroups are found", "[hopper][faults]") {
  for (const Fault &fault : faults)
    expectFound({}, fault);
}

TEST_CASE("faults of a convolution by im2col are found", "[hopper][faults]") {
  Gemm gemm;
  gemm.images = 1;
  gemm.height = 5;
  gemm.width = 7;
  gemm.channels = 64;
  gemm.n = 24;
  for (const Fault &fault : {
           Fault{"offsets exchanged",
                 "uint16_t(at % filter), uint16_t(at / filter)",
                 "uint16_t(at / filter), uint16_t(at % filter)", nullptr},
           Fault{"padding of one side", "int(row % q) - 1", "int(row % q)",
                 nullptr},
           Fault{"an image too far", "int(row / q / p)", "1 + int(row / q / p)",
                 nullptr},
       })
    expectFound(gemm, fault);
}
