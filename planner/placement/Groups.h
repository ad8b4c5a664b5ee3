//===- Groups.h - Operators that share a device -----------------*- C++ -*-===//

#ifndef MLC_PLANNER_PLACEMENT_GROUPS_H
#define MLC_PLANNER_PLACEMENT_GROUPS_H

#include "planner/operators/OperatorGraph.h"

namespace mlc::planner {

/// Operators in groups, each of which is placed on one device. Groups are in
/// the order of their first operators.
struct OperatorGroups {
  std::vector<int32_t> groupOf;              ///< by operator
  std::vector<std::vector<int32_t>> members; ///< ascending
  /// Forward and backward, by group, on the first kind of device.
  std::vector<double> seconds;
  /// What two groups give each other, once a step and direction, in bytes:
  /// tensors, and weights that both read. `bytes[a * count + b]`, symmetric.
  std::vector<double> bytes;

  size_t count() const { return members.size(); }
  double between(size_t a, size_t b) const { return bytes[a * count() + b]; }
};

/// Joins the neighbours that give each other most until at most `most` groups
/// are left; groups stay light, as long as there are lighter ones to join.
OperatorGroups makeGroups(const OperatorGraph &graph, size_t most);

} // namespace mlc::planner

#endif // MLC_PLANNER_PLACEMENT_GROUPS_H
