//===- BayesianSearch.h - The least of a costly function --------*- C++ -*-===//
//
// Bayesian optimization over a list of points: a Gaussian process is fitted to
// what was tried, and the point with the largest expected improvement is tried
// next (Snoek, Larochelle and Adams 2012). Horovod's autotuner does this with
// the sizes of its buffers.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_BAYES_BAYESIANSEARCH_H
#define MLC_PLANNER_BAYES_BAYESIANSEARCH_H

#include "planner/bayes/GaussianProcess.h"

#include <cstdint>
#include <optional>
#include <random>

namespace mlc::planner {

/// Ordered features are best between 0 and 1.
struct SearchSpace {
  std::vector<FeatureKind> kinds;
  std::vector<Features> points;
};

class BayesianSearch {
public:
  /// Tries the points of `first` first, and then some far from each other,
  /// which `seed` begins.
  BayesianSearch(const SearchSpace &space, uint64_t seed,
                 std::vector<size_t> first = {});

  /// The next point to try; none if all were tried.
  std::optional<size_t> next();
  /// What was found at the point that next() gave; less is better.
  void tell(size_t point, double value);

private:
  std::optional<size_t> spread();
  std::optional<size_t> improve();
  double distance(size_t a, size_t b) const;

  const SearchSpace &space;
  std::mt19937_64 random;
  std::vector<size_t> first, tried;
  std::vector<double> values;
  std::vector<bool> isTried;
  /// How far each point is from the nearest that was tried.
  std::vector<double> nearest;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_BAYES_BAYESIANSEARCH_H
