//===- MatrixTest.cpp - Tensor cores --------------------------------------===//

#include "Gpu.h"

#include <cmath>
#include <random>
#include <utility>

using namespace mlc::test;
using Catch::Contains;

namespace {

/// Loads fragments as the device header says that they lie, multiplies once,
/// and stores. A is m x k in rows, B k x n in rows, both float.
const char *const multiplySource = R"(
#define PACK(x, y) (CONVERT(x).bits | (uint32_t(CONVERT(y).bits) << 16))
MLC_KERNEL(k)(const float *a, const float *b, float *d) {
  int t = threadIdx.x % 4, g = threadIdx.x / 4;
  float sums[4];
  int rows[4] = {g, g, g + 8, g + 8};
  int columns[4] = {2 * t, 2 * t + 1, 2 * t, 2 * t + 1};
  for (int i = 0; i < 4; ++i)
    sums[i] = d[rows[i] * 8 + columns[i]];
#ifdef TF32
  uint32_t left[4] = {toTF32(a[g * 8 + t]), toTF32(a[(g + 8) * 8 + t]),
                      toTF32(a[g * 8 + t + 4]), toTF32(a[(g + 8) * 8 + t + 4])};
  uint32_t right[2] = {toTF32(b[t * 8 + g]), toTF32(b[(t + 4) * 8 + g])};
#else
  auto pair = [&](int row, int column) {
    return PACK(a[row * 16 + column], a[row * 16 + column + 1]);
  };
  uint32_t left[4] = {pair(g, 2 * t), pair(g + 8, 2 * t), pair(g, 2 * t + 8),
                      pair(g + 8, 2 * t + 8)};
  uint32_t right[2] = {PACK(b[2 * t * 8 + g], b[(2 * t + 1) * 8 + g]),
                       PACK(b[(2 * t + 8) * 8 + g], b[(2 * t + 9) * 8 + g])};
#endif
  MULTIPLY(sums, left, right);
  for (int i = 0; i < 4; ++i)
    d[rows[i] * 8 + columns[i]] = sums[i];
})";

/// `bits` of mantissa, to nearest.
float roundTo(float value, int bits) {
  int exponent = 0;
  float mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, bits)), exponent - bits);
}

void testMultiply(const std::string &defines, int depth, int bits) {
  Gpu gpu;
  CUfunction multiply = gpu.kernel(defines + multiplySource);
  std::seed_seq seed{7}; // the same in each run
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-2, 2);
  std::vector<float> a(16 * depth), b(depth * 8), d(16 * 8);
  for (auto *matrix : {&a, &b})
    for (float &x : *matrix)
      x = roundTo(values(random), bits);
  for (float &x : d)
    x = values(random);
  std::vector<float> expected = d;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < depth; ++k)
        expected[i * 8 + j] = float(double(expected[i * 8 + j]) +
                                    double(a[i * depth + k]) * b[k * 8 + j]);
  CUdeviceptr x = gpu.upload(a), y = gpu.upload(b);
  underSeeds([&] {
    CUdeviceptr z = gpu.upload(d);
    REQUIRE(gpu.launch(multiply, {1, 32}, {x, y, z}) == 0);
    CHECK(gpu.download<float>(z, d.size()) == expected);
  });
  CHECK(gpu.report() == "");
}

} // namespace

TEST_CASE("matrices of f16", "[matrix]") {
  testMultiply("#define MULTIPLY multiplyAddF16\n#define CONVERT toF16\n", 16,
               11);
}

TEST_CASE("matrices of f16 on sm_75", "[matrix]") {
  Variable architecture("MLC_EMULATOR_ARCH", "sm_75");
  testMultiply("#define MULTIPLY multiplyAddF16\n#define CONVERT toF16\n", 16,
               11);
}

TEST_CASE("matrices of bf16", "[matrix]") {
  testMultiply("#define MULTIPLY multiplyAddBF16\n#define CONVERT toBF16\n", 16,
               8);
}

TEST_CASE("matrices of tf32", "[matrix]") {
  testMultiply("#define MULTIPLY multiplyAddTF32\n#define TF32\n", 8, 11);
}

TEST_CASE("tf32 drops what lies below", "[matrix]") {
  Gpu gpu;
  CUfunction multiply = gpu.kernel(R"(
MLC_KERNEL(k)(float *d) {
  uint32_t a[4], b[2];
  for (uint32_t &x : a) x = 0x3f801fff; // 1 and a bit
  for (uint32_t &x : b) x = 0x3f800000;
  float sums[4] = {};
  multiplyAddTF32(sums, a, b);
  for (int i = 0; i < 4; ++i)
    d[threadIdx.x * 4 + i] = sums[i];
})");
  CUdeviceptr d = gpu.allocate(128 * 4);
  REQUIRE(gpu.launch(multiply, {1, 32}, {d}) == 0);
  CHECK(gpu.download<float>(d, 128) == std::vector<float>(128, 8.0f));
}

TEST_CASE("infinities and NaN go through matrices", "[matrix]") {
  Gpu gpu;
  CUfunction multiply = gpu.kernel(R"(
MLC_KERNEL(k)(float *d) {
  // Row 0 of a is infinite, row 8 not a number; subnormal numbers count.
  bool first = threadIdx.x < 4;
  uint32_t a[4] = {first ? 0x7c007c00u : 0x00010001, first ? 0x7e007e00u : 0,
                   first ? 0x7c007c00u : 0x00010001, first ? 0x7e007e00u : 0};
  uint32_t b[2] = {0x3c003c00, 0x3c003c00};
  float sums[4] = {};
  multiplyAddF16(sums, a, b);
  for (int i = 0; i < 4; ++i)
    d[threadIdx.x * 4 + i] = sums[i];
})");
  CUdeviceptr d = gpu.allocate(128 * 4);
  REQUIRE(gpu.launch(multiply, {1, 32}, {d}) == 0);
  std::vector<float> sums = gpu.download<float>(d, 128);
  for (int i = 0; i < 128; ++i) {
    bool upper = i % 4 < 2;
    if (i >= 16)
      CHECK(sums[i] == (upper ? std::ldexp(1.0f, -20) : 0.0f));
    else if (upper)
      CHECK(sums[i] == INFINITY);
    else
      CHECK(std::isnan(sums[i]));
  }
}

static void testLoad(bool transposed) {
  Gpu gpu;
  CUfunction load = gpu.kernel(std::string("#define LOAD loadMatrices") +
                               (transposed ? "Transposed" : "") + R"(
MLC_KERNEL(k)(uint32_t *out) {
  uint16_t *shared = reinterpret_cast<uint16_t *>(sharedMemory());
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  // Matrix m of warp w has 1000 w + 100 m + 10 row + column; a row's address is
  // some multiple of 16.
  uint16_t *row = shared + warp * 512 + (lane * 7 % 32) * 16;
  for (int i = 0; i < 8; ++i)
    row[i] = 1000 * warp + 100 * (lane / 8) + 10 * (lane % 8) + i;
  syncWarp();
  uint32_t words[4];
  LOAD(words, row);
  for (int m = 0; m < 4; ++m)
    out[t * 4 + m] = words[m];
})");
  underSeeds([&] {
    CUdeviceptr out = gpu.allocate(64 * 4 * 4);
    REQUIRE(gpu.launch(load, {1, 64, 2048}, {out}) == 0);
    std::vector<uint32_t> words = gpu.download<uint32_t>(out, 64 * 4);
    for (unsigned t = 0; t < 64; ++t)
      for (unsigned m = 0; m < 4; ++m)
        for (unsigned half = 0; half < 2; ++half) {
          unsigned row = t % 32 / 4, column = 2 * (t % 4) + half;
          if (transposed)
            std::swap(row, column);
          REQUIRE((words[t * 4 + m] >> (16 * half) & 0xffff) ==
                  1000 * (t / 32) + 100 * m + 10 * row + column);
        }
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("four matrices are loaded", "[matrix]") { testLoad(false); }

TEST_CASE("four matrices are loaded transposed", "[matrix]") { testLoad(true); }

TEST_CASE("half a warp has no matrices", "[matrix]") {
  Gpu gpu;
  CUfunction multiply = gpu.kernel(R"(
MLC_KERNEL(k)(float *d) {
  uint32_t a[4] = {}, b[2] = {};
  float sums[4] = {};
  multiplyAddF16(sums, a, b);
  d[threadIdx.x] = sums[0];
})");
  CUdeviceptr d = gpu.allocate(64 * 4);
  CHECK(gpu.launch(multiply, {1, 48}, {d}) == 719);
  CHECK_THAT(gpu.report(), Contains("fewer than 32 lanes"));
}

TEST_CASE("lanes of different calls do not meet", "[matrix]") {
  // On a GPU they wait for each other for ever, or get each other's operands.
  for (const char *calls :
       {"if (threadIdx.x < 16)\n    multiplyAddF16(sums, a, b);\n  else\n    "
        "multiplyAddF16(sums, a, b);",
        "uint8_t *row = sharedMemory() + threadIdx.x * 16;\n  for (int i = 0; "
        "i "
        "< 16; ++i)\n    row[i] = 1;\n  syncWarp();\n  if (threadIdx.x < 16)\n "
        "   loadMatrices(a, row);\n  else\n    loadMatrices(a, row);\n  "
        "sums[0] = float(a[0]);"}) {
    Gpu gpu;
    CUfunction kernel = gpu.kernel(std::string(R"(
MLC_KERNEL(k)(float *d) {
  uint32_t a[4] = {}, b[2] = {};
  float sums[4] = {};
  )") + calls + "\n  d[threadIdx.x] = sums[0];\n}");
    underSeeds([&] {
      CUdeviceptr d = gpu.allocate(32 * 4);
      CHECK(gpu.launch(kernel, {1, 32, 512}, {d}) == 719);
      CHECK_THAT(gpu.report(),
                 Contains("divergent") && Contains("two of lines"));
    });
  }
}
