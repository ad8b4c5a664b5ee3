//===- HopperTest.cpp - Whole kernels of sm_90a, and faults in them -------===//

#include "Hopper.h"

#include <map>

using namespace mlc::test;
using Catch::Contains;

namespace {

void expectRight(Gemm gemm, double tolerance) {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(gemm.source());
  underSeeds([&] {
    CHECK(gemm.run(gpu, kernel) == 0);
    CHECK(gpu.report() == "");
    CHECK(gemm.error() <= tolerance);
  });
}

} // namespace

TEST_CASE("a product of f16 by warpgroups", "[hopper]") {
  expectRight({}, 0.02);
}

TEST_CASE("a product of tf32 by warpgroups, by several blocks", "[hopper]") {
  Gemm gemm;
  gemm.isTF32 = true;
  gemm.m = 131;
  gemm.n = 140;
  gemm.depth = 100;
  gemm.blocks = 4;
  expectRight(gemm, 1e-5);
}

TEST_CASE("a padded convolution by im2col copies", "[hopper]") {
  Gemm gemm;
  gemm.images = 2;
  gemm.height = 7;
  gemm.width = 9;
  gemm.channels = 64;
  gemm.n = 40;
  expectRight(gemm, 0.05);
}

TEST_CASE("a product by warpgroups without the checks", "[hopper]") {
  Variable off("MLC_EMULATOR_CHECKS", "0");
  expectRight({}, 0.02);
}

TEST_CASE("copies and products of warpgroups are counted", "[hopper]") {
  Variable file("MLC_EMULATOR_COUNTERS", "/dev/null");
  Gpu gpu;
  Gemm gemm;
  CUfunction kernel = gpu.kernel(gemm.source());
  std::map<std::string, uint64_t> expected = {
      // Four tiles: four steps of two copies, and one store, of 64 x 128 bytes.
      {"copies", 4 * (4 * 2 + 1)},
      {"copied_bytes", 4 * (4 * 2 + 1) * 64 * 128},
      // Four products in a step.
      {"products", 4 * 4 * 4},
      {"multiply_adds", 4 * 4 * 4 * 64 * 64 * 16}};
  for (auto &[name, value] : expected)
    value += mlcEmulatorCounted("k", name.c_str());
  REQUIRE(gemm.run(gpu, kernel) == 0);
  for (const auto &[name, value] : expected) {
    INFO(name);
    CHECK(mlcEmulatorCounted("k", name.c_str()) == value);
  }
}
