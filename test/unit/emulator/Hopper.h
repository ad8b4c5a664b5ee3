//===- Hopper.h - A kernel of sm_90a, and what it computes ------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_EMULATOR_HOPPER_H
#define MLC_TEST_UNIT_EMULATOR_HOPPER_H

#include "Gpu.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlc::test {

/// The source of a product of matrices by the copy engine and warpgroups. Tests
/// change its text, so each thing that can be wrong is a line or an argument.
extern const char *const gemmSource;

/// The numbers of CUDA's enumerations.
enum MapType { MapF16 = 6, MapF32 = 7, MapTF32 = 11 };
enum MapSwizzle { NoSwizzle, Swizzle32, Swizzle64, Swizzle128 };

struct alignas(64) Map {
  uint64_t words[16];
};

/// A map of a dense tensor with dims from the fastest on.
Map tiledMap(CUdeviceptr memory, MapType type, std::vector<uint64_t> dims,
             std::vector<uint32_t> box, int swizzle = Swizzle128);

/// Kernel parameters: maps, then words.
std::vector<unsigned long long>
parameters(const std::vector<Map> &maps, std::vector<unsigned long long> words);

/// A product with its data. Its numbers are small multiples of 1/8, so that
/// only the result is rounded.
struct Gemm {
  bool isTF32 = false;
  long long m = 77, n = 72, depth = 200;
  /// With pixels, of images of height x width with that many channels; then m
  /// and depth follow.
  long long images = 0, height = 0, width = 0, channels = 0;
  unsigned blocks = 1;

  std::string source() const;
  /// Runs it; the launch's error.
  CUresult run(Gpu &gpu, CUfunction kernel);
  /// The largest difference from a product in double of the last run's.
  double error() const { return difference; }

private:
  double reference(long long row, long long column) const;
  std::vector<float> a, b;
  double difference = 0;
};

} // namespace mlc::test

#endif // MLC_TEST_UNIT_EMULATOR_HOPPER_H
