//===- RandomProblem.cpp - Problems to try solvers on ---------------------===//

#include "planner/choices/RandomProblem.h"

#include <algorithm>
#include <limits>
#include <random>

using namespace mlc;
using namespace mlc::planner;

namespace {

/// Numbers that do not depend on the standard library.
class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}
  /// From 0 to 1.
  double share() { return double(engine() >> 11) * 0x1p-53; }
  uint32_t below(uint32_t count) {
    return static_cast<uint32_t>(share() * count);
  }

private:
  std::mt19937_64 engine;
};

void addRow(const RandomProblemOptions &options, Draw &draw,
            ChoiceProblem &problem) {
  ChoiceProblem::Row row;
  row.name = "row" + std::to_string(problem.rows.size());
  double least = 0, cheapest = 0;
  for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
    if (draw.share() > 0.75)
      continue;
    const std::vector<double> &costs = problem.nodes[node].costs;
    ChoiceProblem::Use use{node, {}};
    for (double cost : costs)
      use.bytes.push_back(
          static_cast<int64_t>((110 - cost) * (0.5 + draw.share()) * 1e4));
    least += double(*std::min_element(use.bytes.begin(), use.bytes.end()));
    cheapest += double(use.bytes[std::min_element(costs.begin(), costs.end()) -
                                 costs.begin()]);
    row.uses.push_back(std::move(use));
  }
  row.budget = static_cast<int64_t>(
      least + options.room * std::max(0.0, cheapest - least));
  problem.rows.push_back(std::move(row));
}

} // namespace

ChoiceProblem planner::makeRandomProblem(const RandomProblemOptions &options) {
  Draw draw(options.seed);
  ChoiceProblem problem;
  for (uint32_t i = 0; i < options.nodes; ++i) {
    ChoiceProblem::Node node;
    node.name = "node" + std::to_string(i);
    const uint32_t least = (options.choices + 1) / 2;
    const uint32_t count = least + draw.below(options.choices - least + 1);
    for (uint32_t j = 0; j < count; ++j)
      node.costs.push_back(100 * draw.share());
    problem.nodes.push_back(std::move(node));
  }
  for (uint32_t to = 1; to < options.nodes; ++to)
    for (uint32_t back = 1; back <= std::min(options.reach, to); ++back) {
      if (back > 1 && draw.share() >= options.density)
        continue;
      ChoiceProblem::Edge edge{to - back, to, {}};
      const size_t pairs = size_t(problem.countChoices(edge.from)) *
                           problem.countChoices(edge.to);
      for (size_t i = 0; i < pairs; ++i) {
        const bool isFree = draw.share() < 0.2;
        const double cost = 60 * draw.share();
        edge.costs.push_back(draw.share() < options.excluded
                                 ? std::numeric_limits<double>::infinity()
                             : isFree ? 0
                                      : cost);
      }
      problem.edges.push_back(std::move(edge));
    }
  for (uint32_t i = 0; i < options.rows; ++i)
    addRow(options, draw, problem);
  return problem;
}
