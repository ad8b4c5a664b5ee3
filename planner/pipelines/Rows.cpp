//===- Rows.cpp - Rows of weights cut into parts --------------------------===//

#include "planner/pipelines/Rows.h"

#include <algorithm>
#include <limits>

namespace mlc::planner {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A dynamic program over the ends of parts of a row: `step` gives the cost of
/// parts up to an end from that of parts up to the last one's begin.
template <typename Step>
std::vector<size_t> divide(size_t stages, size_t count, Step step) {
  std::vector<std::vector<double>> costs(
      stages + 1, std::vector<double>(count + 1, infinite));
  std::vector<std::vector<size_t>> begins(stages + 1,
                                          std::vector<size_t>(count + 1));
  costs[0][0] = 0;
  for (size_t parts = 1; parts <= stages; ++parts)
    for (size_t end = parts; end <= count; ++end)
      for (size_t begin = parts - 1; begin < end; ++begin) {
        const double cost =
            step(parts - 1, begin, end, costs[parts - 1][begin]);
        if (cost >= costs[parts][end])
          continue;
        costs[parts][end] = cost;
        begins[parts][end] = begin;
      }
  std::vector<size_t> ends;
  size_t end = count;
  for (size_t parts = stages; parts > 0 && costs[stages][count] < infinite;
       --parts) {
    ends.insert(ends.begin(), end);
    end = begins[parts][end];
  }
  return ends;
}

/// Sums of the weights of a part's row before each weight.
std::vector<std::vector<double>>
sumsOf(const std::vector<std::vector<double>> &weights) {
  std::vector<std::vector<double>> sums;
  for (const std::vector<double> &row : weights) {
    sums.push_back({0});
    for (double weight : row)
      sums.back().push_back(sums.back().back() + weight);
  }
  return sums;
}

} // namespace

std::vector<size_t> divideRow(const std::vector<std::vector<double>> &weights) {
  const auto sums = sumsOf(weights);
  return divide(weights.size(), weights.front().size(),
                [&](size_t part, size_t begin, size_t end, double before) {
                  return std::max(before, sums[part][end] - sums[part][begin]);
                });
}

std::vector<size_t> cutRow(const std::vector<std::vector<double>> &weights,
                           const std::vector<std::vector<double>> &cuts,
                           double limit) {
  const auto sums = sumsOf(weights);
  return divide(weights.size(), weights.front().size(),
                [&](size_t part, size_t begin, size_t end, double before) {
                  if (sums[part][end] - sums[part][begin] > limit)
                    return infinite;
                  return before + (part ? cuts[part - 1][begin] : 0);
                });
}

} // namespace mlc::planner
