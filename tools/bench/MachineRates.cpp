//===- MachineRates.cpp - The rates of this machine's core ----------------===//

#include "tools/bench/MachineRates.h"
#include "runtime/ThreadPool.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <memory>
#include <thread>
#include <time.h>
#include <vector>

using namespace mlc::bench;

double mlc::bench::threadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

// Twelve chains hide the latency of a multiply-add.
static constexpr int chains = 12;

__attribute__((target("avx2,fma"))) static double fma256(int64_t steps) {
  __m256 acc[chains], x = _mm256_set1_ps(1.0f), y = _mm256_set1_ps(1e-9f);
  for (int i = 0; i < chains; ++i)
    acc[i] = _mm256_set1_ps(float(i));
  for (int64_t n = 0; n < steps; ++n)
    for (int i = 0; i < chains; ++i) {
      acc[i] = _mm256_fmadd_ps(acc[i], x, y);
      asm volatile("" : "+x"(acc[i]));
    }
  return 2.0 * 8 * chains * steps;
}

__attribute__((target("avx512f"))) static double fma512(int64_t steps) {
  __m512 acc[chains], x = _mm512_set1_ps(1.0f), y = _mm512_set1_ps(1e-9f);
  for (int i = 0; i < chains; ++i)
    acc[i] = _mm512_set1_ps(float(i));
  for (int64_t n = 0; n < steps; ++n)
    for (int i = 0; i < chains; ++i) {
      acc[i] = _mm512_fmadd_ps(acc[i], x, y);
      asm volatile("" : "+v"(acc[i]));
    }
  return 2.0 * 16 * chains * steps;
}

void mlc::bench::computeFor(double seconds) {
  // Twelve multiply-adds per step, two per cycle, at 3 GHz.
  int64_t steps = seconds * 3e9 * 2 / chains;
  if (__builtin_cpu_supports("avx512f"))
    fma512(steps);
  else
    fma256(steps);
}

double mlc::bench::measurePeakFlops(unsigned vectorBits) {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    double start = threadSeconds();
    double flops = vectorBits == 512 ? fma512(20000) : fma256(20000);
    best = std::max(best, flops / (threadSeconds() - start));
  }
  return best;
}

__attribute__((target("avx2"))) static void readAll(const char *data,
                                                    int64_t bytes) {
  __m256 sum[8];
  for (__m256 &s : sum)
    s = _mm256_setzero_ps();
  for (int64_t at = 0; at + 256 <= bytes; at += 256)
    for (int i = 0; i < 8; ++i)
      sum[i] = _mm256_or_ps(
          sum[i],
          _mm256_load_ps(reinterpret_cast<const float *>(data + at + 32 * i)));
  for (__m256 &s : sum)
    asm volatile("" : "+x"(s));
}

double mlc::bench::measureBandwidth(int64_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  std::unique_ptr<char, void (*)(void *)> data(
      static_cast<char *>(std::aligned_alloc(256, bytes)), std::free);
  if (!data)
    return 0;
  std::memset(data.get(), 1, bytes);
  // About 20 ms at 10 GB/s in every round.
  int64_t passes = std::max<int64_t>(1, 200'000'000 / bytes);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    double start = threadSeconds();
    for (int64_t i = 0; i < passes; ++i)
      readAll(data.get(), bytes);
    best = std::max(best, double(passes) * bytes / (threadSeconds() - start));
  }
  return best;
}

double mlc::bench::measureForkJoin(unsigned threads) {
  runtime::ThreadPool pool(threads, /*flushDenormals=*/false);
  constexpr int times = 2000;
  struct Meeting {
    std::atomic<int> arrived{0};
    int expected = 0;
  } meeting;
  double best = 1;
  for (int round = 0; round < 5; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) {
      meeting.expected += threads;
      // Each waits for the others; otherwise one thread might do all the work
      // before they start.
      pool.run(
          threads, threads,
          [](void *argument, unsigned, int64_t, int64_t) {
            auto &all = *static_cast<Meeting *>(argument);
            all.arrived.fetch_add(1);
            while (all.arrived.load() < all.expected)
              _mm_pause();
          },
          &meeting);
    }
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / times);
  }
  return best;
}

double mlc::bench::measureRoundTrip() {
  constexpr int rounds = 9, times = 5000;
  alignas(128) std::atomic<int> line{0};
  std::thread other([&] {
    for (int i = 1; i < 2 * rounds * times; i += 2) {
      while (line.load(std::memory_order_acquire) != i)
        ;
      line.store(i + 1, std::memory_order_release);
    }
  });
  std::vector<double> seconds;
  int next = 1;
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i, next += 2) {
      line.store(next, std::memory_order_release);
      while (line.load(std::memory_order_acquire) != next + 1)
        ;
    }
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    seconds.push_back(elapsed.count() / times);
  }
  other.join();
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2,
                   seconds.end());
  return seconds[rounds / 2];
}
