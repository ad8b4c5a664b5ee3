//===- ThreadPoolTest.cpp - Every task once, on any number of threads -----===//

#include "runtime/ThreadPool.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <immintrin.h>

using namespace mlc::runtime;

namespace {

struct Counts {
  std::vector<std::atomic<int>> hits;
  explicit Counts(size_t n) : hits(n) {}
};

void count(void *context, unsigned, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    ++static_cast<Counts *>(context)->hits[i];
}

} // namespace

TEST_CASE("every task runs exactly once", "[pool]") {
  for (unsigned threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    REQUIRE(pool.size() == threads);
    for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
      Counts counts(tasks);
      for (int repeat = 0; repeat < 50; ++repeat)
        pool.run(tasks, threads, count, &counts);
      for (auto &hits : counts.hits)
        REQUIRE(hits == 50);
    }
  }
}

TEST_CASE("workers wake from sleep", "[pool]") {
  ThreadPool pool(2);
  Counts counts(100);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.run(100, 2, count, &counts);
  }
  for (auto &hits : counts.hits)
    REQUIRE(hits == 20);
}

TEST_CASE("denormals are kept unless asked otherwise", "[pool]") {
  auto half = [](void *out, unsigned, int64_t, int64_t) {
    volatile float small = 1e-39f;
    *static_cast<float *>(out) = small * 0.5f;
  };
  unsigned before = _mm_getcsr();
  for (bool flush : {false, true}) {
    FloatEnvironment environment(flush);
    ThreadPool pool(1, flush);
    float out = 1;
    pool.run(1, 1, half, &out);
    CHECK((out == 0) == flush);
  }
  CHECK((_mm_getcsr() & ~0x3fu) == (before & ~0x3fu));
}

TEST_CASE("fork-join time", "[.speed]") {
  for (unsigned threads : {1, 2}) {
    ThreadPool pool(threads);
    auto nothing = [](void *, unsigned, int64_t, int64_t) {};
    for (int i = 0; i < 1000; ++i)
      pool.run(threads, threads, nothing, nullptr);
    const int count = 200000;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
      pool.run(threads, threads, nothing, nullptr);
    std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - start;
    WARN(threads << " threads: " << took.count() / count << " us");
  }
}
