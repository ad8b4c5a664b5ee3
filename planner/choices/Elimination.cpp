//===- Elimination.cpp - Least costs by eliminating nodes -----------------===//

#include "planner/choices/Elimination.h"

#include <algorithm>
#include <limits>

using namespace mlc;
using namespace mlc::planner;

static constexpr double kNever = std::numeric_limits<double>::infinity();

Elimination::Elimination(const ChoiceProblem &problem, double maxEntries)
    : problem(problem), order(findOrder(problem, maxEntries)),
      buckets(order.buckets.size()), turned(problem.edges.size()) {
  for (size_t place = 0; place < buckets.size(); ++place) {
    const EliminationBucket &from = order.buckets[place];
    Bucket &bucket = buckets[place];
    bucket.size = problem.countChoices(from.node);
    size_t entries = 1;
    for (uint32_t copy : from.scope) {
      bucket.sizes.push_back(problem.countChoices(order.nodeOf[copy]));
      entries *= bucket.sizes.back();
    }
    bucket.minima.resize(entries);
    makeParts(place);
    stepsOfMinimum +=
        double(entries) * bucket.size * (1.0 + bucket.parts.size());
  }
}

/// The strides of a table over `scope`, whose last one is the bucket's copy.
static std::vector<size_t> stridesOf(const std::vector<uint32_t> &scope,
                                     const std::vector<uint32_t> &sizes,
                                     const EliminationBucket &bucket) {
  std::vector<size_t> strides(bucket.scope.size(), 0);
  size_t stride = 1;
  for (size_t i = scope.size(); i-- > 0; stride *= sizes[i]) {
    auto it = std::find(bucket.scope.begin(), bucket.scope.end(), scope[i]);
    if (it != bucket.scope.end())
      strides[it - bucket.scope.begin()] = stride;
  }
  return strides;
}

void Elimination::makeParts(size_t place) {
  const EliminationBucket &from = order.buckets[place];
  Bucket &bucket = buckets[place];
  for (uint32_t i : from.edges) {
    const ChoiceProblem::Edge &edge = problem.edges[i];
    const size_t width = problem.countChoices(edge.to);
    Part part;
    part.values = edge.costs.data();
    if (edge.from == from.node) {
      turned[i].resize(edge.costs.size());
      for (size_t a = 0; a < bucket.size; ++a)
        for (size_t b = 0; b < width; ++b)
          turned[i][b * bucket.size + a] = edge.costs[a * width + b];
      part.values = turned[i].data();
    }
    // The other end is in the scope, as one of its copies.
    const uint32_t other = edge.from == from.node ? edge.to : edge.from;
    for (uint32_t copy : from.scope)
      if (order.nodeOf[copy] == other)
        part.strides =
            stridesOf({copy, from.copy},
                      {problem.countChoices(other), bucket.size}, from);
    bucket.parts.push_back(std::move(part));
  }
  for (uint32_t earlier : from.buckets) {
    Part part;
    part.bucket = static_cast<int>(earlier);
    part.values = buckets[earlier].minima.data();
    part.strides =
        stridesOf(order.buckets[earlier].scope, buckets[earlier].sizes, from);
    bucket.parts.push_back(std::move(part));
  }
}

size_t Elimination::width() const {
  size_t most = 0;
  for (const EliminationBucket &bucket : order.buckets)
    most = std::max(most, bucket.scope.size());
  return most;
}

CopyCosts Elimination::ownCosts() const {
  CopyCosts costs;
  for (uint32_t node : order.nodeOf) {
    costs.push_back(problem.nodes[node].costs);
    for (double &cost : costs.back())
      cost /= static_cast<double>(order.copiesOf[node].size());
  }
  return costs;
}

/// Calls `visit` for each choice of a bucket's scope with its place and, for
/// each part, where its row begins.
template <typename Visit>
void Elimination::forEachRow(const Bucket &bucket, Visit visit) {
  const size_t parts = bucket.parts.size(), dims = bucket.sizes.size();
  std::vector<size_t> rows(parts, 0);
  std::vector<uint32_t> digits(dims, 0);
  for (size_t row = 0; row < bucket.minima.size(); ++row) {
    visit(row, rows);
    for (size_t d = dims; d-- > 0;) {
      if (++digits[d] < bucket.sizes[d]) {
        for (size_t p = 0; p < parts; ++p)
          rows[p] += bucket.parts[p].strides[d];
        break;
      }
      digits[d] = 0;
      for (size_t p = 0; p < parts; ++p)
        rows[p] -= bucket.parts[p].strides[d] * (bucket.sizes[d] - 1);
    }
  }
}

double Elimination::minimize(const CopyCosts &costs, Choices &choices) {
  least = 0;
  for (size_t place = 0; place < buckets.size(); ++place) {
    Bucket &bucket = buckets[place];
    const std::vector<double> &own = costs[order.buckets[place].copy];
    std::vector<double> sums(bucket.size);
    forEachRow(bucket, [&](size_t row, const std::vector<size_t> &rows) {
      std::copy(own.begin(), own.end(), sums.begin());
      for (size_t p = 0; p < rows.size(); ++p) {
        const double *values = bucket.parts[p].values + rows[p];
        for (uint32_t i = 0; i < bucket.size; ++i)
          sums[i] += values[i];
      }
      bucket.minima[row] = *std::min_element(sums.begin(), sums.end());
    });
    if (bucket.sizes.empty())
      least += bucket.minima[0];
  }
  // From the last to the first, each takes what is best for those after it.
  choices.assign(order.nodeOf.size(), 0);
  for (size_t place = buckets.size(); place-- > 0;) {
    const EliminationBucket &from = order.buckets[place];
    const Bucket &bucket = buckets[place];
    std::vector<double> sums = costs[from.copy];
    for (const Part &part : bucket.parts) {
      const double *values = part.values;
      for (size_t d = 0; d < from.scope.size(); ++d)
        values += part.strides[d] * choices[from.scope[d]];
      for (uint32_t i = 0; i < bucket.size; ++i)
        sums[i] += values[i];
    }
    choices[from.copy] =
        std::min_element(sums.begin(), sums.end()) - sums.begin();
  }
  return least;
}

void Elimination::findMarginals(const CopyCosts &costs, CopyCosts &marginals) {
  marginals.resize(costs.size());
  for (Bucket &bucket : buckets)
    bucket.outside.assign(bucket.minima.size(), kNever);
  for (size_t place = buckets.size(); place-- > 0;) {
    Bucket &bucket = buckets[place];
    const std::vector<double> &own = costs[order.buckets[place].copy];
    if (bucket.sizes.empty())
      bucket.outside[0] = least - bucket.minima[0];
    std::vector<double> &mine = marginals[order.buckets[place].copy];
    mine.assign(bucket.size, kNever);
    std::vector<double> sums(bucket.size);
    forEachRow(bucket, [&](size_t row, const std::vector<size_t> &rows) {
      for (uint32_t i = 0; i < bucket.size; ++i)
        sums[i] = own[i] + bucket.outside[row];
      for (size_t p = 0; p < rows.size(); ++p) {
        const double *values = bucket.parts[p].values + rows[p];
        for (uint32_t i = 0; i < bucket.size; ++i)
          sums[i] += values[i];
      }
      for (uint32_t i = 0; i < bucket.size; ++i)
        mine[i] = std::min(mine[i], sums[i]);
      // What an earlier bucket's minimum added is inside of that one.
      for (size_t p = 0; p < rows.size(); ++p) {
        if (bucket.parts[p].bucket < 0)
          continue;
        Bucket &earlier = buckets[bucket.parts[p].bucket];
        for (uint32_t i = 0; i < bucket.size; ++i)
          if (sums[i] < kNever) {
            double &outside = earlier.outside[rows[p] + i];
            outside = std::min(outside, sums[i] - earlier.minima[rows[p] + i]);
          }
      }
    });
  }
}
