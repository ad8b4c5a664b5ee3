//===- ProductsTest.cpp - Products of warpgroups --------------------------===//

#include "Hopper.h"

#include <cmath>
#include <functional>
#include <random>

using namespace mlc::test;
using Catch::Contains;

namespace {

/// Copies the bytes of both factors to shared memory, multiplies twice to add,
/// and stores the registers.
const char *const source = R"(#include "mlc_hopper.cuh"
MLC_KERNEL(k, 128)(const uint32_t *bytes, const uint32_t *rows, SUM *out,
                   long long leadingA, long long strideA, long long leadingB,
                   long long strideB) {
  uint32_t *shared = (uint32_t *)sharedMemory();
  shared += (-sharedAddress(shared) & 1023) / 4;
  for (int i = threadIdx.x; i < 12288; i += 128)
    shared[i] = bytes[i];
  fenceAsyncProxy();
  syncBlock();
  auto a = describeTile<SWIZZLE>(shared, leadingA, strideA);
  auto b = describeTile<SWIZZLE>(shared + 4096, leadingB, strideB);
  uint32_t r[4];
  for (int i = 0; i < 4; ++i)
    r[i] = rows[4 * threadIdx.x + i];
  SUM d[N / 2];
  fenceProducts();
  PRODUCT(false);
  PRODUCT(true);
  commitProducts();
  waitForProducts<0>();
  for (int i = 0; i < N / 2; ++i)
    out[i * 128 + threadIdx.x] = d[i];
})";

struct Type {
  const char *name;
  unsigned size;
  std::function<void(float, uint8_t *)> write; ///< an element's bytes
};

void writeBytes(const void *from, unsigned count, uint8_t *to) {
  std::memcpy(to, from, count);
}
void writeF16(float x, uint8_t *to) {
  int exponent = 0;
  float mantissa = std::frexp(std::fabs(x), &exponent);
  auto bits = uint16_t(x == 0 ? 0
                              : ((exponent + 14) << 10) +
                                    int(std::ldexp(mantissa, 11)) - 1024);
  bits = uint16_t(bits | (x < 0 ? 0x8000 : 0));
  writeBytes(&bits, 2, to);
}
void writeBF16(float x, uint8_t *to) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits >>= 16;
  writeBytes(&bits, 2, to);
}
void writeF32(float x, uint8_t *to) { writeBytes(&x, 4, to); }
void writeByte(float x, uint8_t *to) { *to = uint8_t(int(x)); }
/// For whole numbers below 16.
void writeE4M3(float x, uint8_t *to) {
  int exponent = 0;
  float mantissa = std::frexp(std::fabs(x), &exponent);
  *to = uint8_t(
      x == 0 ? 0 : ((exponent + 6) << 3) + int(std::ldexp(mantissa, 4)) - 8);
  *to = uint8_t(*to | (x < 0 ? 0x80 : 0));
}

const Type types[] = {{"f16", 2, writeF16},
                      {"bf16", 2, writeBF16},
                      {"tf32", 4, writeF32},
                      {"e4m3", 1, writeE4M3},
                      {"bytes", 1, writeByte}};

/// Where number k of line i of a factor lies, by the canonical layouts.
struct Layout {
  unsigned swizzle = 0; ///< bytes
  bool isAcross = false;
  unsigned leading = 0, stride = 0;

  unsigned at(unsigned i, unsigned k, unsigned size) const {
    unsigned byte;
    if (!swizzle)
      return isAcross
                 ? i / 8 * stride + k / 8 * leading + k % 8 * 16 + i % 8 * 2
                 : i / 8 * stride + k * size / 16 * leading + i % 8 * 16 +
                       k * size % 16;
    unsigned run = swizzle / 2;
    byte = isAcross ? i / run * leading + k / 8 * stride + k % 8 * swizzle +
                          i % run * 2
                    : i / 8 * stride + i % 8 * swizzle + k * size;
    // Rows of 128 bytes permute their chunks of 16 bytes.
    unsigned chunks = swizzle / 16, chunk = byte / 16;
    chunk = chunk / chunks * chunks + (chunk % chunks ^ byte / 128 % chunks);
    return chunk * 16 + byte % 16;
  }
};

struct Case {
  const Type &type;
  unsigned columns = 64;
  Layout a, b;
  bool hasRows = false;
  std::string product; ///< of the kernel
};

void expectProduct(const Case &test) {
  INFO(test.product << " " << test.columns << " swizzle " << test.a.swizzle);
  const Type &type = test.type;
  unsigned depth = 32 / type.size;
  std::mt19937 random(3);
  std::vector<float> a(64 * depth), b(test.columns * depth);
  for (auto *values : {&a, &b})
    for (float &value : *values)
      value = float(random() % 15) - (test.product[0] == 'u' ? 0.f : 7.f);
  std::vector<uint8_t> bytes(4 * 12288), rows(128 * 16);
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned i = 0; i < 64; ++i) {
      type.write(a[i * depth + k], &bytes[test.a.at(i, k, type.size)]);
      // Lane 4 g + t has rows g and g + 8; a word has 4 bytes of columns.
      unsigned inWord = 4 / type.size, t = k / inWord % 4,
               half = k / inWord / 4;
      unsigned thread = i / 16 * 32 + i % 8 * 4 + t,
               word = i % 16 / 8 + 2 * half;
      type.write(a[i * depth + k],
                 &rows[thread * 16 + word * 4 + k % inWord * type.size]);
    }
    for (unsigned i = 0; i < test.columns; ++i)
      type.write(b[i * depth + k], &bytes[16384 + test.b.at(i, k, type.size)]);
  }
  bool isInteger = type.size == 1 && type.name[0] == 'b';
  std::string defines = "#define N " + std::to_string(test.columns) +
                        "\n#define SWIZZLE " + std::to_string(test.a.swizzle) +
                        "\n#define SUM " + (isInteger ? "int" : "float") +
                        "\n#define PRODUCT(add) " + test.product.substr(1) +
                        "\n";
  Gpu gpu;
  CUfunction kernel = gpu.kernel(defines + source);
  REQUIRE(cuFuncSetAttribute(kernel, 8, 50176) == 0);
  CUdeviceptr x = gpu.upload(bytes), y = gpu.upload(rows),
              z = gpu.allocate(4 * 64 * test.columns);
  REQUIRE(gpu.launch(kernel, {1, 128, 50176},
                     {x, y, z, test.a.leading, test.a.stride, test.b.leading,
                      test.b.stride}) == 0);
  CHECK(gpu.report() == "");
  std::vector<uint32_t> words = gpu.download<uint32_t>(z, 64 * test.columns);
  int wrong = 0;
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned e = 0; e < test.columns / 2; ++e) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8,
               column = e / 4 * 8 + thread % 4 * 2 + e % 2;
      double sum = 0;
      for (unsigned k = 0; k < depth; ++k)
        sum += 2.0 * a[row * depth + k] * b[column * depth + k];
      uint32_t word = words[e * 128 + thread];
      float value;
      std::memcpy(&value, &word, 4);
      wrong += isInteger ? int32_t(word) != int32_t(sum) : value != float(sum);
    }
  CHECK(wrong == 0);
}

/// Along K: eight rows of the swizzle's width each.
Layout along(unsigned swizzle) {
  return swizzle ? Layout{swizzle, false, 16, 8 * swizzle}
                 : Layout{0, false, 128, 256};
}
/// Across K: runs of the swizzle's width for 16 places of k each.
Layout across(unsigned swizzle) {
  return swizzle ? Layout{swizzle, true, 16 * swizzle, 8 * swizzle}
                 : Layout{0, true, 128, 256};
}

} // namespace

TEST_CASE("products of all types", "[products]") {
  for (const Type &type : types) {
    std::string name = type.name;
    std::string call = " multiplyTiles<" + name + ">(d, a, b, add)";
    if (name == "bytes")
      call = " multiplyTilesOfBytes<true, true>(d, a, b, add)";
    for (unsigned swizzle : {0u, 32u, 64u, 128u})
      expectProduct({type, 64, along(swizzle), along(swizzle), false, call});
  }
}

TEST_CASE("products of bytes without sign", "[products]") {
  for (const char *call : {"umultiplyTilesOfBytes<false, false>(d, a, b, add)",
                           "umultiplyTilesOfBytes<true, false>(d, a, b, add)",
                           "umultiplyTilesOfBytes<false, true>(d, a, b, add)"})
    expectProduct({types[4], 32, along(128), along(128), false, call});
}

TEST_CASE("products of all sizes", "[products]") {
  for (unsigned columns : {8, 32, 96, 128, 192, 256})
    expectProduct({types[0], columns, along(32), along(32), false,
                   " multiplyTiles<f16>(d, a, b, add)"});
}

TEST_CASE("factors that lie across K", "[products]") {
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    Layout k = along(swizzle), mn = across(swizzle);
    expectProduct({types[0], 128, k, mn, false,
                   " multiplyTiles<f16, false, true>(d, a, b, add)"});
    expectProduct({types[1], 64, mn, k, false,
                   " multiplyTiles<bf16, true, false>(d, a, b, add)"});
    expectProduct({types[0], 64, mn, mn, false,
                   " multiplyTiles<f16, true, true>(d, a, b, add)"});
  }
}

TEST_CASE("a factor in registers", "[products]") {
  for (unsigned i = 0; i < 4; ++i)
    expectProduct(
        {types[i], 64, along(128), along(128), true,
         std::string(" multiplyRows<") + types[i].name + ">(d, r, b, add)"});
  expectProduct({types[0], 64, across(128), across(128), true,
                 " multiplyRows<f16, true>(d, r, b, add)"});
}

TEST_CASE("registers that products use", "[products]") {
  auto expect = [](const std::string &text, const char *found) {
    INFO(text);
    Gpu gpu;
    CUfunction kernel = gpu.kernel(
        "#include \"mlc_hopper.cuh\"\n"
        "MLC_KERNEL(k, 128)(float *out) {\n"
        "float *shared = (float *)sharedMemory();\n"
        "shared += (-sharedAddress(shared) & 1023) / 4;\n"
        "for (int i = threadIdx.x; i < 2048; i += 128) shared[i] = 0;\n"
        "fenceAsyncProxy(); syncBlock();\n"
        "auto a = describeTile<128>(shared, 16, 1024);\n"
        "float d[32]; uint32_t r[4] = {1, 2, 3, 4};\n"
        "for (float &x : d) x = 1;\n" +
        text +
        "\nfor (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = "
        "d[i];\n}");
    CUdeviceptr out = gpu.allocate(4 * 128 * 32);
    CUresult status = gpu.launch(kernel, {1, 128, 8192 + 1024}, {out});
    CHECK((status == 0) == !found);
    if (found)
      CHECK_THAT(gpu.report(), Contains(found));
    else
      CHECK(gpu.report() == "");
  };
  const std::string product = "multiplyTiles<tf32>(d, a, a, true);",
                    end = "commitProducts(); waitForProducts<0>();",
                    rows = "multiplyRows<tf32>(d, r, a, true);";
  expect("fenceProducts();" + product + product + end, nullptr);
  expect(product + end, "no fenceProducts()");
  // Used in between.
  expect("fenceProducts();" + product + end + "d[3] += 1;" + product + end,
         "no fenceProducts()");
  expect("fenceProducts();" + product + end + "d[3] += 1; fenceProducts();" +
             product + end,
         nullptr);
  expect("fenceProducts();" + product + "d[5] = 2;" + end,
         "registers of a product that was not waited for");
  expect("fenceProducts();" + rows + "r[2] = 7;" + end,
         "registers of a product that was not waited for");
  expect("fenceProducts();" + rows + end + "r[2] = 7;" + rows + end,
         "no fenceProducts()");
  // Never waited for.
  expect("float e[32]; fenceProducts(); multiplyTiles<tf32>(e, a, a, false);",
         "asynchronous work that the block did not wait for");
  // Shared memory that is written meanwhile.
  expect("fenceProducts();" + product +
             "commitProducts(); shared[threadIdx.x] = 1; waitForProducts<0>();",
         "race");
  // A start within the swizzle's pattern.
  expect("fenceProducts(); multiplyTiles<tf32>(d, a + 8, a, true);" + end,
         "base offset");
}
