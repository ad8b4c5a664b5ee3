//===- ReduceTest.cpp - Sums of every type --------------------------------===//

#include "runtime/transport/Reduce.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace mlc::runtime::transport;

template <typename T> static T sum(mlc_dtype type, T a, T b) {
  add(type, &a, &b, 1);
  return a;
}

TEST_CASE("integers wrap around", "[reduce]") {
  CHECK(sum<uint8_t>(MLC_U8, 200, 100) == 44);
  CHECK(sum<int8_t>(MLC_I8, 127, 1) == -128);
  CHECK(sum<uint16_t>(MLC_U16, 65535, 2) == 1);
  CHECK(sum<int32_t>(MLC_I32, INT32_MAX, 1) == INT32_MIN);
  CHECK(sum<int64_t>(MLC_I64, INT64_MAX, 1) == INT64_MIN);
}

TEST_CASE("small floats are rounded to nearest, ties to even", "[reduce]") {
  CHECK(sum<uint16_t>(MLC_F16, 0x3c00, 0x3c00) == 0x4000);  // 1 + 1
  CHECK(sum<uint16_t>(MLC_F16, 0x6800, 0x3c00) == 0x6800);  // 2048 + 1
  CHECK(sum<uint16_t>(MLC_F16, 0x6801, 0x3c00) == 0x6802);  // 2050 + 1
  CHECK(sum<uint16_t>(MLC_F16, 0x7bff, 0x7bff) == 0x7c00);  // infinity
  CHECK(sum<uint16_t>(MLC_BF16, 0x3f80, 0x3f80) == 0x4000); // 1 + 1
  CHECK(sum<uint16_t>(MLC_BF16, 0x4380, 0x3f80) == 0x4380); // 256 + 1
  CHECK(sum<uint16_t>(MLC_BF16, 0x4381, 0x3f80) == 0x4382); // 258 + 1
  CHECK(sum<uint16_t>(MLC_BF16, 0x7f7f, 0x7f7f) == 0x7f80); // infinity
  CHECK(sum<uint16_t>(MLC_F16, 0x7c00, 0xfc00) == 0x7e00);  // inf - inf
  CHECK(sum<uint16_t>(MLC_BF16, 0x7f81, 0x3f80) == 0x7fc0); // a NaN
}

TEST_CASE("sums are the same bits from both sides", "[reduce]") {
  std::mt19937_64 random(5);
  for (mlc_dtype type : {MLC_F32, MLC_F16, MLC_BF16, MLC_F64, MLC_U16}) {
    // At odd addresses too; some are NaNs of any payload.
    std::vector<char> a(8 * 1000 + 1), b(8 * 1000 + 1);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<char>(random());
      b[i] = static_cast<char>(random() % 8 ? random() : 0xff);
    }
    std::vector<char> left = a, right = b;
    add(type, left.data() + 1, b.data() + 1, 1000);
    add(type, right.data() + 1, a.data() + 1, 1000);
    const size_t bytes = 1000 * mlc_dtype_size(type);
    CHECK(std::memcmp(left.data() + 1, right.data() + 1, bytes) == 0);
    CHECK(left[0] == a[0]);
  }
  CHECK(std::isnan(sum(MLC_F32, std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity())));
}

TEST_CASE("bool has no sum", "[reduce]") {
  CHECK_FALSE(isSummable(MLC_BOOL));
  CHECK(isSummable(MLC_BF16));
}

template <typename T>
static T combined(mlc_reduction reduction, mlc_dtype type, T a, T b) {
  combine(reduction, type, &a, &b, 1);
  return a;
}

TEST_CASE("products, maxima and minima", "[reduce]") {
  CHECK(combined<int8_t>(MLC_PROD, MLC_I8, 100, 3) == 44);
  CHECK(combined<uint16_t>(MLC_PROD, MLC_U16, 65535, 65535) == 1);
  CHECK(combined<int16_t>(MLC_MAX, MLC_I16, -5, 3) == 3);
  CHECK(combined<uint8_t>(MLC_MIN, MLC_U8, 200, 3) == 3);
  CHECK(combined(MLC_PROD, MLC_F64, 1.5, -2.0) == -3);
  CHECK(combined<uint16_t>(MLC_MAX, MLC_BF16, 0xbf80, 0x3f80) == 0x3f80);
  CHECK(combined<uint16_t>(MLC_MIN, MLC_F16, 0x4000, 0x3c00) == 0x3c00);
  // From both sides: -0 is less than +0, and what is no number comes out.
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (bool swapped : {false, true}) {
    auto both = [&](mlc_reduction reduction, float a, float b) {
      return swapped ? combined(reduction, MLC_F32, b, a)
                     : combined(reduction, MLC_F32, a, b);
    };
    CHECK_FALSE(std::signbit(both(MLC_MAX, 0.0f, -0.0f)));
    CHECK(std::signbit(both(MLC_MIN, 0.0f, -0.0f)));
    CHECK(std::isnan(both(MLC_MAX, none, 1)));
    CHECK(std::isnan(both(MLC_MIN, none, 1)));
    CHECK(std::isnan(both(MLC_PROD, none, 1)));
  }
}
