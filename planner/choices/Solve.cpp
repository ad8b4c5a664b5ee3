//===- Solve.cpp - The cheapest choices that fit --------------------------===//

#include "planner/choices/Solve.h"
#include "planner/choices/Search.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::planner;
using runtime::Status;

static constexpr double kNever = std::numeric_limits<double>::infinity();

int64_t planner::leastBytes(const ChoiceProblem &problem,
                            const ChoiceProblem::Row &row, double maxEntries) {
  ChoiceProblem only = problem;
  only.rows.clear();
  auto clear = [](std::vector<double> &costs) {
    for (double &cost : costs)
      cost = cost < kNever ? 0 : kNever;
  };
  for (ChoiceProblem::Node &node : only.nodes)
    clear(node.costs);
  for (ChoiceProblem::Edge &edge : only.edges)
    clear(edge.costs);
  for (const ChoiceProblem::Use &use : row.uses)
    for (size_t i = 0; i < use.bytes.size(); ++i)
      only.nodes[use.node].costs[i] += double(use.bytes[i]);
  const ReducedProblem reduced = reduce(only);
  Elimination elimination(reduced.problem, maxEntries);
  Choices choices;
  const double least = elimination.minimize(elimination.ownCosts(), choices);
  return least < kNever ? static_cast<int64_t>(std::ceil(least)) : INT64_MAX;
}

Status planner::describeMisfit(const ChoiceProblem &problem, bool isProved) {
  double tightest = -1;
  int64_t least = 0;
  const ChoiceProblem::Row *row = nullptr;
  for (const ChoiceProblem::Row &one : problem.rows) {
    const int64_t bytes = leastBytes(problem, one);
    if (bytes == INT64_MAX)
      return Status::error(MLC_RESOURCES, "all choices exclude each other");
    const double share =
        double(bytes) / double(std::max<int64_t>(1, one.budget));
    if (share <= tightest)
      continue;
    tightest = share;
    least = bytes;
    row = &one;
  }
  if (!row)
    return Status::error(MLC_RESOURCES, "all choices exclude each other");
  const std::string what = runtime::printable(row->name) + " needs at least " +
                           std::to_string(least) + " bytes, and there are " +
                           std::to_string(row->budget);
  if (least > row->budget)
    return Status::error(MLC_RESOURCES, "nothing fits: " + what);
  return Status::error(MLC_RESOURCES,
                       std::string(isProved ? "nothing fits all rows together"
                                            : "found nothing that fits") +
                           "; the tightest one, " + what);
}

/// Leaves out rows that nothing can exceed.
static void removeLooseRows(ChoiceProblem &problem) {
  std::erase_if(problem.rows, [](const ChoiceProblem::Row &row) {
    int64_t most = 0;
    for (const ChoiceProblem::Use &use : row.uses)
      most += *std::max_element(use.bytes.begin(), use.bytes.end());
    return most <= row.budget;
  });
}

Status planner::solveByElimination(const ChoiceProblem &problem,
                                   const ChoiceOptions &options,
                                   ChoiceSolution &solution) {
  if (Status status = problem.check(); !status.ok())
    return status;
  solution = {};
  if (problem.nodes.empty())
    return Status::success();
  ChoiceProblem tight = problem;
  removeLooseRows(tight);
  const ReducedProblem reduced = reduce(tight);
  Search search(reduced.problem, options);
  search.run();
  solution.steps = search.steps();
  solution.width = search.width();
  solution.copies = search.copies();
  if (!search.isFound())
    return describeMisfit(problem, search.bound() == kNever);
  solution.choices = reduced.toOriginal(search.best());
  solution.cost = costOf(problem, solution.choices);
  solution.bound = std::min(search.bound(), solution.cost);
  return Status::success();
}
