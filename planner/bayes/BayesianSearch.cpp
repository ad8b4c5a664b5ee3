//===- BayesianSearch.cpp - The least of a costly function ----------------===//

#include "planner/bayes/BayesianSearch.h"

#include <algorithm>
#include <limits>

using namespace mlc::planner;

/// So many points are spread over the space before a Gaussian process is
/// fitted, fewer beside others that are tried first.
static constexpr size_t spreadPoints = 6, leastSpread = 3;

BayesianSearch::BayesianSearch(const SearchSpace &space, uint64_t seed,
                               std::vector<size_t> first)
    : space(space), random(seed), first(std::move(first)),
      isTried(space.points.size()),
      nearest(space.points.size(), std::numeric_limits<double>::infinity()) {}

double BayesianSearch::distance(size_t a, size_t b) const {
  double sum = 0;
  for (size_t i = 0; i < space.kinds.size(); ++i) {
    const double x = space.points[a][i], y = space.points[b][i];
    sum += space.kinds[i] == FeatureKind::Category ? double(x != y)
                                                   : (x - y) * (x - y);
  }
  return sum;
}

void BayesianSearch::tell(size_t point, double value) {
  tried.push_back(point);
  values.push_back(value);
  isTried[point] = true;
  for (size_t i = 0; i < nearest.size(); ++i)
    nearest[i] = std::min(nearest[i], distance(i, point));
}

/// One of the points that are farthest from those that were tried.
std::optional<size_t> BayesianSearch::spread() {
  std::vector<size_t> left;
  double farthest = 0;
  for (size_t i = 0; i < isTried.size(); ++i) {
    if (isTried[i] || nearest[i] < farthest)
      continue;
    if (nearest[i] > farthest)
      left.clear();
    farthest = nearest[i];
    left.push_back(i);
  }
  if (left.empty())
    return std::nullopt;
  return left[random() % left.size()];
}

std::optional<size_t> BayesianSearch::improve() {
  GaussianProcess process(space.kinds);
  std::vector<Features> points;
  for (size_t point : tried)
    points.push_back(space.points[point]);
  // How bad the worse half is does not matter, and would hide what does.
  std::vector<double> sorted = values, capped = values;
  std::sort(sorted.begin(), sorted.end());
  const double best = sorted.front(), median = sorted[sorted.size() / 2];
  for (double &value : capped)
    value = std::min(value, median);
  process.fit(points, capped);
  std::optional<size_t> found;
  double most = 0;
  for (size_t i = 0; i < isTried.size(); ++i) {
    if (isTried[i])
      continue;
    const double gain =
        expectedImprovement(process.predict(space.points[i]), best);
    if (gain > most) {
      most = gain;
      found = i;
    }
  }
  return found ? found : spread();
}

std::optional<size_t> BayesianSearch::next() {
  for (size_t point : first)
    if (!isTried[point])
      return point;
  return tried.size() < std::max(spreadPoints, first.size() + leastSpread)
             ? spread()
             : improve();
}
