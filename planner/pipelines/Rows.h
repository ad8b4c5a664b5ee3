//===- Rows.h - Rows of weights cut into parts ------------------*- C++ -*-===//
//
// Exact dynamic programs for stages: n^2 p steps for n weights and p parts.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_PIPELINES_ROWS_H
#define MLC_PLANNER_PIPELINES_ROWS_H

#include <cstddef>
#include <vector>

namespace mlc::planner {

/// Ends of parts of a row of weights, the heaviest of which is as light as
/// possible; of equal ones the first. `weights` has the row for each part, and
/// each part has a weight at least.
std::vector<size_t> divideRow(const std::vector<std::vector<double>> &weights);

/// Ends of parts none of which is heavier than `limit`, such that the sum of
/// what the cuts cost is least: `cuts` has for each part but the first the cost
/// of a cut before each weight. Empty if there are none.
std::vector<size_t> cutRow(const std::vector<std::vector<double>> &weights,
                           const std::vector<std::vector<double>> &cuts,
                           double limit);

} // namespace mlc::planner

#endif // MLC_PLANNER_PIPELINES_ROWS_H
