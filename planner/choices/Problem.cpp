//===- Problem.cpp - Choices with costs, and memory for them --------------===//

#include "planner/choices/Problem.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::planner;
using runtime::printable;
using runtime::Status;

static Status invalid(const std::string &what) {
  return Status::error(MLC_USAGE, what);
}

/// Whether each is a number or, not allowed, plus infinity.
static bool areCosts(const std::vector<double> &costs) {
  return std::all_of(costs.begin(), costs.end(), [](double cost) {
    return std::isfinite(cost) ||
           cost == std::numeric_limits<double>::infinity();
  });
}

static Status checkRow(const ChoiceProblem &problem,
                       const ChoiceProblem::Row &row) {
  constexpr int64_t most = int64_t(1) << 62;
  const std::string what = "row " + printable(row.name) + ": ";
  if (row.budget < 0 || row.budget >= most)
    return invalid(what + "its budget must be 0 to 2^62");
  std::vector<bool> isUsed(problem.nodes.size());
  int64_t sum = 0;
  for (const ChoiceProblem::Use &use : row.uses) {
    if (use.node >= problem.nodes.size())
      return invalid(what + "there is no node " + std::to_string(use.node));
    const std::string name = printable(problem.nodes[use.node].name);
    if (isUsed[use.node])
      return invalid(what + "has node " + name + " twice");
    isUsed[use.node] = true;
    if (use.bytes.size() != problem.countChoices(use.node))
      return invalid(what + "needs a number for each choice of node " + name);
    const auto [least, largest] =
        std::minmax_element(use.bytes.begin(), use.bytes.end());
    if (*least < 0 || *largest >= most - sum)
      return invalid(what + "bytes of node " + name +
                     " must be from 0 on, and all of a row below 2^62");
    sum += *largest;
  }
  return Status::success();
}

Status ChoiceProblem::check() const {
  for (const Node &node : nodes)
    if (node.costs.empty() || !areCosts(node.costs))
      return invalid("node " + printable(node.name) +
                     ": needs choices, whose costs are numbers or infinite");
  for (const Edge &edge : edges) {
    if (edge.from >= nodes.size() || edge.to >= nodes.size() ||
        edge.from == edge.to)
      return invalid("edge from " + std::to_string(edge.from) + " to " +
                     std::to_string(edge.to) + ": needs two nodes");
    if (edge.costs.size() !=
            size_t(countChoices(edge.from)) * countChoices(edge.to) ||
        !areCosts(edge.costs))
      return invalid("edge from " + printable(nodes[edge.from].name) + " to " +
                     printable(nodes[edge.to].name) +
                     ": needs a cost for each pair of choices");
  }
  for (const Row &row : rows)
    if (Status status = checkRow(*this, row); !status.ok())
      return status;
  return Status::success();
}

double planner::costOf(const ChoiceProblem &problem, const Choices &choices) {
  double sum = 0;
  for (size_t node = 0; node < choices.size(); ++node)
    sum += problem.nodes[node].costs[choices[node]];
  for (const ChoiceProblem::Edge &edge : problem.edges)
    sum +=
        edge.costs[size_t(choices[edge.from]) * problem.countChoices(edge.to) +
                   choices[edge.to]];
  return sum;
}

int64_t planner::bytesOf(const ChoiceProblem::Row &row,
                         const Choices &choices) {
  int64_t sum = 0;
  for (const ChoiceProblem::Use &use : row.uses)
    sum += use.bytes[choices[use.node]];
  return sum;
}

bool planner::fits(const ChoiceProblem &problem, const Choices &choices) {
  return std::all_of(problem.rows.begin(), problem.rows.end(),
                     [&](const ChoiceProblem::Row &row) {
                       return bytesOf(row, choices) <= row.budget;
                     });
}
