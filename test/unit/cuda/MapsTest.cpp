//===- MapsTest.cpp - Maps of symbolic sizes ------------------------------===//

#include "codegen/cuda/Maps.h"
#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace mlc;
using Catch::Contains;
using runtime::MapElement;

TEST_CASE("a map is proved for all sizes") {
  mlir::MLIRContext context;
  context.loadDialect<MlcDialect>();
  auto number = [&](int64_t value) {
    return IntExpr::constant(&context, value);
  };
  IntExpr n = IntExpr::symbol(&context, "N"),
          k = IntExpr::symbol(&context, "K");
  KernelMap map;
  map.element = MapElement::F16;
  map.dims = {number(64), n, k};
  map.strides = {number(128), n * 128};
  map.box = {64, 128, 1};
  map.steps = {1, 1, 1};
  map.swizzle = 128;
  auto why = [&](auto change) {
    KernelMap changed = map;
    change(changed);
    return cuda::whyNotMappable(changed);
  };
  CHECK(why([](KernelMap &) {}) == "");
  CHECK(why([&](KernelMap &m) { m.offset = k * 32; }) == "");
  CHECK(why([&](KernelMap &m) { m.strides[1] = n * 256 + 64; }) == "");
  CHECK(why([&](KernelMap &m) {
          m.dims[0] = k * 8, m.strides = {k * 16, n * k * 16};
        }) == "");
  CHECK(why([&](KernelMap &m) { m.dims[2] = number(int64_t(1) << 32); }) == "");

  CHECK_THAT(why([&](KernelMap &m) { m.offset = k * 8; }),
             Contains("its first element may be at no multiple of 16 bytes"));
  CHECK_THAT(
      why([&](KernelMap &m) { m.dims[0] = k, m.strides = {k * 2, n * k * 2}; }),
      Contains("the stride of dim 1, 2 * K, may be no multiple of 16"));
  CHECK_THAT(why([&](KernelMap &m) { m.strides[1] = n * 112; }),
             Contains("may be less than the dims before it have"));
  CHECK_THAT(why([&](KernelMap &m) { m.strides[0] = k * 16; }),
             Contains("may be less than"));
  CHECK_THAT(
      why([&](KernelMap &m) { m.strides[1] = number(int64_t(1) << 40); }),
      Contains("not less than 2^40"));
  CHECK_THAT(why([&](KernelMap &m) { m.dims[2] = n - 1; }),
             Contains("may not be from 0 to 2^32"));
  CHECK_THAT(
      why([&](KernelMap &m) { m.dims[2] = number((int64_t(1) << 32) + 1); }),
      Contains("may not be from 0 to 2^32"));
  CHECK_THAT(why([&](KernelMap &m) { m.box[0] = 128; }),
             Contains("more than the swizzle's 128"));
  CHECK_THAT(why([&](KernelMap &m) { m.box[1] = 257; }),
             Contains("1 to 256 are possible"));

  // Pixels: what open sizes leave to the launch, and what they cannot.
  map.dims = {number(64), k, number(2), n};
  map.strides = {number(128), k * 128, k * 256};
  map.steps = {1, 1, 1, 1};
  map.box.clear();
  map.pixels = 128;
  map.channels = 64;
  map.lower = {0, 0};
  map.upper = {-2, -1};
  CHECK(why([](KernelMap &) {}) == "");
  CHECK_THAT(why([](KernelMap &m) { m.upper[1] = -2; }),
             Contains("no pixel between the corners along dim 2"));
}
