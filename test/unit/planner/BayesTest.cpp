//===- BayesTest.cpp - Gaussian processes, and what they find -------------===//

#include "planner/bayes/BayesianSearch.h"
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace mlc::planner;

namespace {

double matern(double r) {
  return (1 + std::sqrt(5) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5) * r);
}

} // namespace

TEST_CASE("a Gaussian process of two points is the formula by hand") {
  GaussianProcess process({FeatureKind::Ordered});
  const double noise = 0.01, mean = 2, scale = 3;
  process.observe({{0}, {1}}, {1, 4}, {{0.5}, mean, scale, noise});
  // The covariance's inverse is [[a, -b], [-b, a]] / (a² - b²).
  const double a = 1 + noise, b = matern(2), d = a * a - b * b;
  const double y0 = 1 - mean, y1 = 4 - mean;
  for (double x : {-0.3, 0.0, 0.25, 1.0, 1.7}) {
    const double k0 = matern(std::abs(x) / 0.5),
                 k1 = matern(std::abs(x - 1) / 0.5);
    const Prediction found = process.predict({x});
    CHECK(found.mean ==
          Approx(mean + (k0 * (a * y0 - b * y1) + k1 * (a * y1 - b * y0)) / d));
    CHECK(found.variance ==
          Approx(9 * (1 - (a * (k0 * k0 + k1 * k1) - 2 * b * k0 * k1) / d)));
  }
  const double squares = (a * (y0 * y0 + y1 * y1) - 2 * b * y0 * y1) / d / 9;
  CHECK(process.logLikelihood() ==
        Approx(-0.5 * (squares + std::log(81 * d) + 2 * std::log(2 * M_PI))));
}

TEST_CASE("categories are as far apart as any others") {
  GaussianProcess process({FeatureKind::Category});
  process.observe({{0}}, {1}, {{1}, 0, 1, 0});
  CHECK(process.predict({0}).mean == Approx(1));
  CHECK(process.predict({0}).variance == Approx(0).margin(1e-12));
  CHECK(process.predict({1}).mean == Approx(matern(1)));
  CHECK(process.predict({7}).mean == Approx(matern(1)));
}

TEST_CASE("a fit is more probable than lengths beside it") {
  std::vector<Features> points;
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) {
    points.push_back({i / 30.0, i * 7 % 30 / 30.0});
    values.push_back(std::sin(9 * points.back()[0]) + 5);
  }
  GaussianProcess process({FeatureKind::Ordered, FeatureKind::Ordered});
  process.fit(points, values);
  const GaussianProcess::Kernel best = process.kernel();
  const double found = process.logLikelihood();
  // The second feature says nothing.
  CHECK(best.lengths[1] > 4 * best.lengths[0]);
  CHECK(process.predict({0.51, 0.2}).mean ==
        Approx(std::sin(9 * 0.51) + 5).margin(0.02));
  GaussianProcess::Kernel other = best;
  for (double factor : {0.5, 2.0}) {
    other.lengths[0] = best.lengths[0] * factor;
    process.observe(points, values, other);
    CHECK(process.logLikelihood() < found);
  }
}

TEST_CASE("the expected improvement is its integral") {
  CHECK(expectedImprovement({3, 4}, 3) ==
        Approx(2 / std::sqrt(2 * std::acos(-1))));
  CHECK(expectedImprovement({3, 0}, 4) == Approx(1));
  CHECK(expectedImprovement({3, 0}, 2) == 0);
  for (double best : {-1.0, 0.5, 2.0}) {
    double sum = 0;
    for (double x = -8; x < best; x += 1e-4)
      sum += (best - x) * std::exp(-x * x / 2) / std::sqrt(2 * M_PI) * 1e-4;
    CHECK(expectedImprovement({0, 1}, best) == Approx(sum).epsilon(1e-3));
  }
}

namespace {

/// Exchanges of gradients: few large buckets overlap less, many small ones
/// have latencies, and algorithms differ in both.
struct Exchanges {
  SearchSpace space{
      {FeatureKind::Ordered, FeatureKind::Ordered, FeatureKind::Category}, {}};
  std::vector<double> seconds;

  Exchanges() {
    for (int bucket = 0; bucket <= 20; ++bucket)
      for (int count = 0; count <= 4; ++count)
        for (int algorithm = 0; algorithm < 6; ++algorithm) {
          space.points.push_back(
              {bucket / 20.0, count / 4.0, double(algorithm)});
          const double buckets = std::exp2(20 - bucket),
                       latency = 1e-6 * (1 + algorithm * 5 % 6),
                       rate = 1 + 0.3 * (algorithm * 7 % 5);
          seconds.push_back(0.05 + 0.004 * count + buckets * latency +
                            0.08 / rate + 0.05 / buckets);
        }
  }
};

std::vector<size_t> search(const Exchanges &all, uint64_t seed, int count) {
  BayesianSearch search(all.space, seed);
  std::vector<size_t> tried;
  for (int i = 0; i < count; ++i) {
    const auto point = search.next();
    if (!point)
      break;
    tried.push_back(*point);
    search.tell(*point, std::log(all.seconds[*point]));
  }
  return tried;
}

} // namespace

TEST_CASE("25 of 630 points are within 5 % of the best") {
  const Exchanges all;
  const double best = *std::min_element(all.seconds.begin(), all.seconds.end());
  int near = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<size_t> tried = search(all, seed, 25);
    CHECK(tried == search(all, seed, 25));
    double found = 1e9;
    for (size_t point : tried)
      found = std::min(found, all.seconds[point]);
    INFO("seed " << seed << " found " << found / best);
    CHECK(found <= 1.1 * best);
    near += found <= 1.05 * best;
  }
  CHECK(near >= 9);
}

TEST_CASE("a small space is tried once") {
  Exchanges all;
  all.space.points.resize(9);
  const std::vector<size_t> tried = search(all, 1, 100);
  CHECK(tried.size() == 9);
  CHECK(std::set<size_t>(tried.begin(), tried.end()).size() == 9);
}
