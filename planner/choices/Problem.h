//===- Problem.h - Choices with costs, and memory for them ------*- C++ -*-===//
//
// What planners of shardings solve: each node (an operator) takes one of its
// choices (a strategy), with a cost; an edge has a cost for each pair of
// choices of its two nodes (what has to be exchanged between them); and in each
// row, a point in time, the choices use bytes of a budget. The formulation of
// Alpa (Zheng et al. 2022, section 4.2).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_CHOICES_PROBLEM_H
#define MLC_PLANNER_CHOICES_PROBLEM_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlc::planner {

struct ChoiceProblem {
  struct Node {
    std::string name;
    /// Of each choice; infinite where it is not allowed. At least one.
    std::vector<double> costs;
  };
  /// Between two different nodes. Several between the same two add up.
  struct Edge {
    uint32_t from = 0, to = 0;
    /// For each choice of `from` those of `to`; infinite where the two exclude
    /// each other.
    std::vector<double> costs;
  };
  struct Use {
    uint32_t node = 0;
    std::vector<int64_t> bytes; ///< of each choice, from 0 on
  };
  struct Row {
    std::string name;
    int64_t budget = 0;
    std::vector<Use> uses; ///< each of another node
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Row> rows;

  uint32_t countChoices(uint32_t node) const {
    return static_cast<uint32_t>(nodes[node].costs.size());
  }

  /// An error, with the node, edge or row, for sizes that do not fit each
  /// other, numbers that are no costs, and bytes that add up to 2^62 or more.
  runtime::Status check() const;
};

/// The choice of each node.
using Choices = std::vector<uint32_t>;

/// The sum of all costs.
double costOf(const ChoiceProblem &problem, const Choices &choices);
int64_t bytesOf(const ChoiceProblem::Row &row, const Choices &choices);
/// Whether no row uses more than its budget.
bool fits(const ChoiceProblem &problem, const Choices &choices);

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_PROBLEM_H
