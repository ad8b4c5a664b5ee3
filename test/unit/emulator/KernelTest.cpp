//===- KernelTest.cpp - Right kernels compute, in any order ---------------===//

#include "Gpu.h"

#include <chrono>
#include <numeric>

using namespace mlc::test;

TEST_CASE("vectors are added", "[kernel]") {
  Gpu gpu;
  CUfunction add = gpu.kernel(R"(
MLC_KERNEL(k)(const float *a, const float *b, float *c, long long n) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    c[i] = a[i] + b[i];
})");
  const size_t n = 1000;
  std::vector<float> a(n), b(n, 0.5f);
  std::iota(a.begin(), a.end(), 0.0f);
  CUdeviceptr x = gpu.upload(a), y = gpu.upload(b);
  underSeeds([&] {
    for (unsigned block : {1u, 31u, 32u, 33u, 48u, 256u, 1024u}) {
      CUdeviceptr z = gpu.allocate(n * 4);
      REQUIRE(gpu.launch(add, {3, block}, {x, y, z, n}) == 0);
      std::vector<float> c = gpu.download<float>(z, n);
      for (size_t i = 0; i < n; ++i)
        REQUIRE(c[i] == float(i) + 0.5f);
    }
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("a block reverses through shared memory", "[kernel]") {
  Gpu gpu;
  CUfunction reverse = gpu.kernel(R"(
MLC_KERNEL(k)(const int *in, int *out) {
  int *shared = reinterpret_cast<int *>(sharedMemory());
  int t = threadIdx.x, n = blockDim.x, base = blockIdx.x * n;
  shared[t] = in[base + t];
  syncBlock();
  out[base + t] = shared[n - 1 - t];
})");
  underSeeds([&] {
    for (unsigned block : {1u, 33u, 100u, 1024u}) {
      std::vector<int> in(4 * block);
      std::iota(in.begin(), in.end(), 0);
      CUdeviceptr x = gpu.upload(in), y = gpu.allocate(in.size() * 4);
      REQUIRE(gpu.launch(reverse, {4, block, block * 4}, {x, y}) == 0);
      std::vector<int> out = gpu.download<int>(y, in.size());
      for (unsigned i = 0; i < in.size(); ++i)
        REQUIRE(out[i] == int(i / block * block + block - 1 - i % block));
    }
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("a warp sums by shuffles", "[kernel]") {
  Gpu gpu;
  CUfunction sum = gpu.kernel(R"(
template <typename T> MLC_DEVICE T total(T value) {
  for (int mask = 16; mask; mask /= 2)
    value += shuffleXor(value, mask);
  return value;
}
MLC_KERNEL(k)(const int *in, double *out) {
  int x = in[threadIdx.x];
  double sums[6] = {double(total(x)), double(total(float(x))), total(double(x)),
                    double(total((long long)x)), double(total(unsigned(x))),
                    double(total((unsigned long long)x))};
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < 6; ++i)
      out[threadIdx.x / 32 * 6 + i] = sums[i];
})");
  std::vector<int> in(96);
  std::iota(in.begin(), in.end(), 1);
  CUdeviceptr x = gpu.upload(in);
  underSeeds([&] {
    CUdeviceptr y = gpu.allocate(18 * 8);
    REQUIRE(gpu.launch(sum, {1, 96}, {x, y}) == 0);
    std::vector<double> out = gpu.download<double>(y, 18);
    for (int i = 0; i < 18; ++i) {
      int warp = i / 6;
      REQUIRE(out[i] == 528 + 1024 * warp);
    }
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("lanes hand over through shared memory with syncWarp", "[kernel]") {
  Gpu gpu;
  CUfunction rotate = gpu.kernel(R"(
MLC_KERNEL(k)(int *out) {
  int *shared = reinterpret_cast<int *>(sharedMemory());
  int t = threadIdx.x, lane = t % 32, warp = t - lane;
  for (int i = 0; i < 3; ++i) {
    shared[t] = t + i;
    syncWarp();
    int value = shared[warp + (lane + 1) % 32];
    syncWarp();
    out[t] = value;
  }
})");
  underSeeds([&] {
    CUdeviceptr y = gpu.allocate(64 * 4);
    REQUIRE(gpu.launch(rotate, {1, 64, 256}, {y}) == 0);
    std::vector<int> out = gpu.download<int>(y, 64);
    for (int t = 0; t < 64; ++t)
      REQUIRE(out[t] == t / 32 * 32 + (t + 1) % 32 + 2);
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("copies come while others are computed with", "[kernel]") {
  Gpu gpu;
  CUfunction sum = gpu.kernel(R"(
MLC_KERNEL(k)(const float *in, float *out, long long tiles) {
  float *shared = reinterpret_cast<float *>(sharedMemory());
  int t = threadIdx.x, n = blockDim.x;
  auto start = [&](long long tile) {
    if (tile <= tiles) // the last is zeros
      copyAsync<16>(shared + tile % 2 * n * 4 + t * 4,
                    in + (tile * n + t) * 4, tile < tiles);
    commitCopies();
  };
  float sum = 0;
  start(0);
  for (long long tile = 0; tile <= tiles; ++tile) {
    start(tile + 1);
    waitForCopies<1>();
    syncBlock();
    for (int i = 0; i < 4; ++i)
      sum += shared[tile % 2 * n * 4 + (n - 1 - t) * 4 + i];
    syncBlock();
  }
  out[t] = sum;
})");
  const unsigned block = 64, tiles = 5;
  std::vector<float> in(block * tiles * 4);
  std::iota(in.begin(), in.end(), 0.0f);
  CUdeviceptr x = gpu.upload(in);
  underSeeds([&] {
    CUdeviceptr y = gpu.allocate(block * 4);
    REQUIRE(gpu.launch(sum, {1, block, block * 32}, {x, y, tiles}) == 0);
    std::vector<float> out = gpu.download<float>(y, block);
    for (unsigned t = 0; t < block; ++t) {
      float expected = 0;
      for (unsigned tile = 0; tile < tiles; ++tile)
        for (unsigned i = 0; i < 4; ++i)
          expected += in[(tile * block + block - 1 - t) * 4 + i];
      REQUIRE(out[t] == expected);
    }
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("neighbours write halves and bytes of one word", "[kernel]") {
  Gpu gpu;
  CUfunction copy = gpu.kernel(R"(
MLC_KERNEL(k)(uint16_t *halves, uint8_t *bytes, unsigned *words) {
  uint16_t *shared = reinterpret_cast<uint16_t *>(sharedMemory());
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  halves[i] = i;
  bytes[i] = i;
  shared[t] = i;
  syncBlock();
  if (t % 2 == 0) // the word that two threads wrote
    words[i / 2] = *reinterpret_cast<unsigned *>(shared + t);
})");
  underSeeds([&] {
    const unsigned n = 4 * 96;
    CUdeviceptr halves = gpu.allocate(n * 2), bytes = gpu.allocate(n),
                words = gpu.allocate(n * 2);
    // Twice: records of the first launch must not matter in the second.
    for (int i = 0; i < 2; ++i)
      REQUIRE(gpu.launch(copy, {4, 96, 192}, {halves, bytes, words}) == 0);
    auto h = gpu.download<uint16_t>(halves, n),
         w = gpu.download<uint16_t>(words, n);
    auto b = gpu.download<uint8_t>(bytes, n);
    for (unsigned i = 0; i < n; ++i) {
      REQUIRE(h[i] == i);
      REQUIRE(w[i] == i);
      REQUIRE(b[i] == uint8_t(i));
    }
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("grids and blocks have three dims", "[kernel]") {
  Gpu gpu;
  CUfunction where = gpu.kernel(R"(
MLC_KERNEL(k)(unsigned *out) {
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  out[i] = i;
})");
  underSeeds([&] {
    const unsigned n = 2 * 3 * 4 * 5 * 3 * 2;
    unsigned long long y = gpu.allocate(n * 4);
    size_t bytes = 8;
    void *extra[] = {reinterpret_cast<void *>(1), &y,
                     reinterpret_cast<void *>(2), &bytes, nullptr};
    REQUIRE(cuLaunchKernel(where, 2, 3, 4, 5, 3, 2, 0, gpu.stream, nullptr,
                           extra) == 0);
    auto out = gpu.download<unsigned>(y, n);
    for (unsigned i = 0; i < n; ++i)
      REQUIRE(out[i] == i);
  });
  CHECK(gpu.report() == "");
}

TEST_CASE("a kernel may have many parameters", "[kernel]") {
  Gpu gpu;
  std::string parameters, sum;
  std::vector<unsigned long long> words;
  for (int i = 0; i < 200; ++i) {
    parameters += ", long long p" + std::to_string(i);
    sum += " + " + std::to_string(i + 1) + " * p" + std::to_string(i);
  }
  CUdeviceptr y = gpu.allocate(8);
  words.push_back(y);
  long long expected = 0;
  for (int i = 0; i < 200; ++i) {
    words.push_back(1000 + i);
    expected += (i + 1) * (1000 + i);
  }
  CUfunction add = gpu.kernel("MLC_KERNEL(k)(long long *out" + parameters +
                              ") { *out = 0" + sum + "; }");
  REQUIRE(gpu.launch(add, {1, 1}, words) == 0);
  CHECK(gpu.download<long long>(y, 1)[0] == expected);
}

TEST_CASE("accesses per second", "[.speed]") {
  Gpu gpu;
  CUfunction sum = gpu.kernel(R"(
MLC_KERNEL(k)(const float *in, float *out, long long n) {
  float *shared = reinterpret_cast<float *>(sharedMemory());
  float sum = 0;
  for (long long i = threadIdx.x; i < n; i += blockDim.x) {
    shared[threadIdx.x] = in[i];
    syncBlock();
    for (unsigned j = 0; j < 32; ++j)
      sum += shared[(threadIdx.x + j) % blockDim.x];
    syncBlock();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
})");
  const unsigned n = 1 << 16, grid = 8, block = 256;
  CUdeviceptr x = gpu.upload(std::vector<float>(n, 1.0f)),
              y = gpu.allocate(grid * block * 4);
  uint64_t before = mlcEmulatorAccesses();
  auto start = std::chrono::steady_clock::now();
  REQUIRE(gpu.launch(sum, {grid, block, block * 4}, {x, y, n}) == 0);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  WARN(double(mlcEmulatorAccesses() - before) / took.count() / 1e6
       << " million accesses per second, in " << took.count() << " s");
  CHECK(gpu.report() == "");
}
