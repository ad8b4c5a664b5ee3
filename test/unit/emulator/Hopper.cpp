//===- Hopper.cpp - A kernel of sm_90a, and what it computes --------------===//

#include "Hopper.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace mlc::test {

const char *const gemmSource =
#include "HopperGemm.inc"
    ;

static uint16_t toHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  // Exact for the small multiples of 1/8 that tests have.
  return value == 0 ? 0
                    : uint16_t(((bits >> 16) & 0x8000) |
                               (((bits >> 13) & 0x3ffff) - (112 << 10)));
}

static float fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float value = exponent == 31 ? NAN
                : exponent ? std::ldexp(float(1024 + mantissa), exponent - 25)
                           : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -value : value;
}

Map tiledMap(CUdeviceptr memory, MapType type, std::vector<uint64_t> dims,
             std::vector<uint32_t> box, int swizzle) {
  Map map = {};
  uint64_t stride = type == MapF16 ? 2 : 4;
  std::vector<uint64_t> strides;
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    strides.push_back(stride *= dims[i]);
  std::vector<uint32_t> steps(dims.size(), 1);
  REQUIRE(cuTensorMapEncodeTiled(&map, type, unsigned(dims.size()),
                                 reinterpret_cast<void *>(uintptr_t(memory)),
                                 dims.data(), strides.data(), box.data(),
                                 steps.data(), 0, swizzle, 2, 0) == 0);
  return map;
}

std::vector<unsigned long long>
parameters(const std::vector<Map> &maps,
           std::vector<unsigned long long> words) {
  std::vector<unsigned long long> all;
  for (const Map &map : maps)
    all.insert(all.end(), map.words, map.words + 16);
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::string Gemm::source() const {
  return std::string(isTF32 ? "#define TF32\n" : "") +
         (images ? "#define PIXELS\n" : "") + gemmSource;
}

double Gemm::reference(long long row, long long column) const {
  double sum = 0;
  if (!images) {
    for (long long k = 0; k < depth; ++k)
      sum += double(a[row * depth + k]) * b[column * depth + k];
    return sum;
  }
  long long x = row % width, y = row / width % height,
            image = row / width / height;
  for (long long k = 0; k < depth; ++k) {
    long long at = k / channels, u = x + at % 3 - 1, v = y + at / 3 - 1;
    if (u >= 0 && u < width && v >= 0 && v < height)
      sum +=
          double(
              a[((image * height + v) * width + u) * channels + k % channels]) *
          b[column * depth + k];
  }
  return sum;
}

/// An im2col map of images for a filter of 3 x 3 with one pixel of padding.
static Map pixelsMap(CUdeviceptr memory, MapType type, const Gemm &gemm,
                     unsigned inRow) {
  Map map = {};
  uint64_t size = type == MapF16 ? 2 : 4, c = uint64_t(gemm.channels),
           w = uint64_t(gemm.width), h = uint64_t(gemm.height);
  uint64_t dims[] = {c, w, h, uint64_t(gemm.images)};
  uint64_t strides[] = {size * c, size * c * w, size * c * w * h};
  uint32_t steps[] = {1, 1, 1, 1};
  int lower[] = {-1, -1}, upper[] = {-1, -1};
  REQUIRE(cuTensorMapEncodeIm2col(&map, type, 4,
                                  reinterpret_cast<void *>(uintptr_t(memory)),
                                  dims, strides, lower, upper, inRow, 64, steps,
                                  0, Swizzle128, 2, 0) == 0);
  return map;
}

CUresult Gemm::run(Gpu &gpu, CUfunction kernel) {
  if (images) {
    m = images * height * width;
    depth = 9 * channels;
  }
  std::mt19937 random(5);
  auto fill = [&](std::vector<float> &values, long long count) {
    values.resize(size_t(count));
    for (float &value : values)
      value = float(int(random() % 15) - 7) / 8;
  };
  fill(a, images ? images * height * width * channels : m * depth);
  fill(b, n * depth);
  auto upload = [&](const std::vector<float> &values) {
    if (isTF32)
      return gpu.upload(values);
    std::vector<uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), toHalf);
    return gpu.upload(halves);
  };
  size_t count = size_t(m * n);
  CUdeviceptr x = upload(a), y = upload(b),
              z = gpu.allocate(count * (isTF32 ? 4 : 2));
  MapType type = isTF32 ? MapF32 : MapF16;
  unsigned inRow = isTF32 ? 32 : 64;
  Map left =
      images ? pixelsMap(x, type, *this, inRow)
             : tiledMap(x, type, {uint64_t(depth), uint64_t(m)}, {inRow, 64});
  Map right = tiledMap(y, type, {uint64_t(depth), uint64_t(n)}, {inRow, 64});
  Map result = tiledMap(z, type, {uint64_t(n), uint64_t(m)}, {inRow, 64});
  constexpr unsigned shared = 8 * 64 * 128 + 64 + 1024;
  REQUIRE(cuFuncSetAttribute(kernel, 8, shared) == 0);
  CUresult status = gpu.launch(
      kernel, {blocks, 256, shared},
      parameters({left, right, result},
                 {(unsigned long long)m, (unsigned long long)n,
                  (unsigned long long)depth, (unsigned long long)width,
                  (unsigned long long)height, (unsigned long long)channels}));
  difference = 0;
  if (status)
    return status;
  std::vector<float> sums(count);
  if (isTF32) {
    sums = gpu.download<float>(z, count);
  } else {
    std::vector<uint16_t> halves = gpu.download<uint16_t>(z, count);
    std::transform(halves.begin(), halves.end(), sums.begin(), fromHalf);
  }
  for (long long i = 0; i < m; ++i)
    for (long long j = 0; j < n; ++j) {
      double apart =
          std::fabs(double(sums[size_t(i * n + j)]) - reference(i, j));
      // One that is not a number is as far as can be.
      difference = apart <= difference ? difference
                   : apart == apart    ? apart
                                       : INFINITY;
    }
  return status;
}

} // namespace mlc::test
