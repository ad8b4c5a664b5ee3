//===- StrategiesTest.cpp - How written strategies divide layers ----------===//

#include "planner/strategies/Strategies.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace mlc::planner;

TEST_CASE("layers are divided equally") {
  CHECK(divideEqually(7, 3) == std::vector<size_t>{3, 5, 7});
  CHECK(divideEqually(6, 3) == std::vector<size_t>{2, 4, 6});
  CHECK(divideEqually(2, 2) == std::vector<size_t>{1, 2});
}

TEST_CASE("blocks differ by one weight at most") {
  // Of torchgpipe's tests (tests/test_balance.py).
  CHECK(partitionBlocks({1, 2, 3, 4, 5, 6}, 2) == std::vector<size_t>{4, 6});
  CHECK(partitionBlocks({1, 2, 3, 4, 5, 6}, 3).back() == 6);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::vector<double> weights(1 + random() % 30);
    for (double &weight : weights)
      weight = random() % 4 ? double(random() % 100) : 0;
    const size_t parts = 1 + random() % weights.size();
    const std::vector<size_t> ends = partitionBlocks(weights, parts);
    REQUIRE(ends.size() == parts);
    REQUIRE(ends.back() == weights.size());
    double most = 0, least = 1e9;
    size_t begin = 0;
    for (size_t end : ends) {
      REQUIRE(begin <= end);
      const double sum = std::accumulate(weights.begin() + long(begin),
                                         weights.begin() + long(end), 0.0);
      most = std::max(most, sum);
      least = std::min(least, sum);
      begin = end;
    }
    CHECK(most <= least + *std::ranges::max_element(weights));
  }
}

TEST_CASE("numbers of micro-batches divide the samples") {
  CHECK(listMicroBatches(64, 2) ==
        std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64});
  CHECK(listMicroBatches(7, 4) == std::vector<int64_t>{1, 7});
  CHECK(listMicroBatches(12, 1) == std::vector<int64_t>{1, 2, 3, 4, 6, 12});
}

TEST_CASE("strategies have names") {
  for (const StrategyRow &row : allStrategies()) {
    CHECK(findStrategy(row.name) == &row);
    CHECK(&allStrategies()[size_t(row.strategy)] == &row);
  }
  CHECK(!findStrategy("none"));
}
