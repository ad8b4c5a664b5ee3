//===- HeaderTest.cpp - Numbers as kernels have them ----------------------===//

#include "Gpu.h"

#include <cmath>
#include <limits>

using namespace mlc::test;

namespace {

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// What f16's 16 bits say, from its definition.
float halfValue(unsigned bits) {
  int exponent = int(bits >> 10 & 31), mantissa = int(bits & 1023);
  float value = exponent ? std::ldexp(float(1024 + mantissa), exponent - 25)
                         : std::ldexp(float(mantissa), -24);
  if (exponent == 31)
    value = mantissa ? std::numeric_limits<float>::quiet_NaN() : INFINITY;
  return bits & 0x8000 ? -value : value;
}

std::vector<uint32_t> convert(Gpu &gpu, const std::string &expression,
                              const std::vector<float> &values) {
  CUfunction kernel =
      gpu.kernel("MLC_KERNEL(k)(const float *in, uint32_t *out, long long n) {"
                 "for (long long i = threadIdx.x; i < n; i += blockDim.x) {"
                 "float x = in[i]; out[i] = " +
                 expression + "; } }");
  CUdeviceptr in = gpu.upload(values), out = gpu.allocate(values.size() * 4);
  REQUIRE(gpu.launch(kernel, {1, 128}, {in, out, values.size()}) == 0);
  return gpu.download<uint32_t>(out, values.size());
}

} // namespace

TEST_CASE("f16 is read and rounded", "[header]") {
  Gpu gpu;
  std::vector<float> all, exact, between;
  std::vector<uint32_t> expected;
  for (unsigned i = 0; i < 65536; ++i)
    all.push_back(float(i));
  std::vector<uint32_t> values =
      convert(gpu, "__float_as_uint(toFloat(f16{uint16_t(x)}))", all);
  for (unsigned i = 0; i < 65536; ++i) {
    float value = fromBits(values[i]);
    if (std::isnan(halfValue(i)) ? !std::isnan(value)
                                 : bitsOf(halfValue(i)) != values[i])
      FAIL(i);
  }
  // Between two neighbours: up to the half, even at the half, and behind it.
  for (unsigned i = 0; i < 0x7c00; ++i) {
    float low = halfValue(i);
    float high = i + 1 < 0x7c00 ? halfValue(i + 1) : 65536.0f;
    float half = low + (high - low) / 2;
    for (float sign : {1.0f, -1.0f}) {
      unsigned bit = sign < 0 ? 0x8000 : 0;
      between.insert(between.end(),
                     {sign * low, sign * std::nextafter(half, low), sign * half,
                      sign * std::nextafter(half, high)});
      expected.insert(expected.end(),
                      {bit | i, bit | i, bit | (i + (i & 1)), bit | (i + 1)});
    }
  }
  between.insert(between.end(), {1e30f, -INFINITY, NAN, 1e-30f, -1e-30f});
  expected.insert(expected.end(), {0x7c00, 0xfc00, 0x7fff, 0, 0x8000});
  CHECK(convert(gpu, "toF16(x).bits", between) == expected);
  CHECK(convert(gpu, "toF16(double(x)).bits", between) == expected);
  CHECK(gpu.report() == "");
}

TEST_CASE("double is rounded to f16 once", "[header]") {
  // By way of float, this would be a tie and round to even.
  Gpu gpu;
  CHECK(convert(gpu, "toF16(1.0 + 0x1p-11 + x * 0x1p-40).bits", {0, 1, -1}) ==
        std::vector<uint32_t>{0x3c00, 0x3c01, 0x3c00});
}

TEST_CASE("bf16 is read and rounded", "[header]") {
  Gpu gpu;
  std::vector<float> values = {1.0f,
                               fromBits(0x3f808000), // a tie, even below
                               fromBits(0x3f818000), // even above
                               fromBits(0x3f808001),
                               fromBits(0x3f807fff),
                               -fromBits(0x3f808001),
                               fromBits(0x7f7fffff), // becomes infinite
                               INFINITY,
                               fromBits(1),
                               fromBits(0x00008001)};
  CHECK(convert(gpu, "toBF16(x).bits", values) ==
        std::vector<uint32_t>{0x3f80, 0x3f80, 0x3f82, 0x3f81, 0x3f80, 0xbf81,
                              0x7f80, 0x7f80, 0, 1});
  uint32_t nan = convert(gpu, "toBF16(x).bits", {fromBits(0x7f800001)})[0];
  CHECK(std::isnan(fromBits(nan << 16)));
  CHECK(convert(gpu, "__float_as_uint(toFloat(toBF16(x)))", {-1.5f, 0.0f}) ==
        std::vector<uint32_t>{bitsOf(-1.5f), 0});
}

TEST_CASE("tf32 is rounded away from zero at ties", "[header]") {
  Gpu gpu;
  CHECK(convert(gpu, "toTF32(x)",
                {fromBits(0x3f801000), fromBits(0x3f800fff),
                 fromBits(0xbf801000), fromBits(0x3f803000), INFINITY}) ==
        std::vector<uint32_t>{0x3f802000, 0x3f800000, 0xbf802000, 0x3f804000,
                              0x7f800000});
  uint32_t nan = convert(gpu, "toTF32(x)", {fromBits(0x7f800001)})[0];
  CHECK(std::isnan(fromBits(nan)));
}

TEST_CASE("CUDA's functions are there", "[header]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(R"(
struct __align__(16) Four { float x[4]; };
template <typename T> MLC_DEVICE T twice(T x) { return x + x; }
__device__ int thrice(int x) { return 3 * x; }
MLC_KERNEL(k, 128, 2)(const float *__restrict__ in, float *__restrict__ out) {
  float x = in[0];
  int i = 0;
  out[i++] = expf(x) + erff(x) + tanhf(x) + rsqrtf(x) + sqrtf(x);
  out[i++] = fmaxf(x, NAN) + fminf(NAN, x) + fmaf(x, x, 1);
  out[i++] = floorf(x) + rintf(2.5f) + truncf(-1.5f) + ceilf(x);
  out[i++] = isnan(NAN) + isinf(INFINITY) + isnan(1.0) + isinf(x);
  out[i++] = min(1, 2) + max(3ll, 4ll) + min(1.5f, x) + max(2.0, 1.0);
  out[i++] = __int_as_float(__float_as_int(x)) +
             float(__longlong_as_double(__double_as_longlong(1.0)));
  out[i++] = twice(x) + thrice(2) + sizeof(Four) + fabs(-x) + pow(x, 2.0f);
  #pragma unroll
  for (int j = 0; j < 4; ++j)
    out[i++] = exp(double(x)) + log1pf(x) + __expf(0) + powf(2, j);
})");
  CUdeviceptr in = gpu.upload(std::vector<float>{1.5f}), out = gpu.allocate(44);
  REQUIRE(gpu.launch(kernel, {1, 1}, {in, out}) == 0);
  std::vector<float> values = gpu.download<float>(out, 11);
  float x = 1.5f;
  CHECK(values[0] == Approx(std::exp(x) + std::erf(x) + std::tanh(x) +
                            1 / std::sqrt(x) + std::sqrt(x)));
  CHECK(values[1] == x + x + x * x + 1);
  CHECK(values[2] == 1 + 2 - 1 + 2);
  CHECK(values[3] == 2);
  CHECK(values[4] == 1 + 4 + 1.5f + 2);
  CHECK(values[5] == x + 1);
  CHECK(values[6] == 2 * x + 6 + 16 + x + x * x);
  CHECK(values[10] == Approx(std::exp(1.5) + std::log1p(1.5) + 1 + 8));
  CHECK(gpu.report() == "");
}

TEST_CASE("floats become integers as on a GPU", "[header]") {
  Gpu gpu;
  const float nan = std::nanf(""), huge = std::ldexp(1.f, 80);
  // With their neighbours on both sides of each bound.
  std::vector<float> values = {0.f,
                               -0.f,
                               1.9f,
                               -1.9f,
                               huge,
                               -huge,
                               nan,
                               std::ldexp(1.f, 31),
                               std::ldexp(-1.f, 31)};
  for (float bound : {31.f, 32.f, 63.f, 64.f})
    for (float sign : {1.f, -1.f}) {
      float at = std::ldexp(sign, int(bound));
      values.push_back(at);
      values.push_back(std::nextafter(at, 0.f));
    }
  struct Row {
    const char *function;
    double least, most; ///< the bounds, where `most` is not reached
    uint64_t mostBits, leastBits, nanBits;
  };
  const double two31 = 2147483648.0, two63 = two31 * 4294967296.0;
  for (const Row &row : {
           Row{"toInt32", -two31, two31, 0x7fffffff, 0xffffffff80000000, 0},
           Row{"toUInt32", 0, 2 * two31, 0xffffffff, 0, 0},
           Row{"toInt64", -two63, two63, uint64_t(INT64_MAX),
               uint64_t(INT64_MIN), uint64_t(INT64_MIN)},
           Row{"toUInt64", 0, 2 * two63, UINT64_MAX, 0, uint64_t(INT64_MIN)},
       })
    for (bool isDouble : {false, true}) {
      INFO(row.function << (isDouble ? " of double" : " of float"));
      CUfunction kernel = gpu.kernel(
          std::string("MLC_KERNEL(k)(const float *in, long long *out, "
                      "long long n) {\n  for (long long i = threadIdx.x; i < "
                      "n; i += blockDim.x)\n    out[i] = (long long)(") +
          row.function + (isDouble ? "(double(in[i])));\n}" : "(in[i]));\n}"));
      CUdeviceptr in = gpu.upload(values),
                  out = gpu.allocate(values.size() * 8);
      REQUIRE(gpu.launch(kernel, {1, 32}, {in, out, values.size()}) == 0);
      auto found = gpu.download<uint64_t>(out, values.size());
      bool is32 = row.most <= 2 * two31;
      for (size_t i = 0; i < values.size(); ++i) {
        double value = values[i];
        INFO(value);
        uint64_t nanBits = isDouble && is32
                               ? (row.least ? 0xffffffff80000000 : 0x80000000)
                               : row.nanBits;
        uint64_t expected = value != value       ? nanBits
                            : value >= row.most  ? row.mostBits
                            : value <= row.least ? row.leastBits
                            : row.least          ? uint64_t(int64_t(value))
                                                 : uint64_t(value);
        CHECK(found[i] == expected);
      }
    }
}
