//===- Order.h - An order to eliminate nodes in -----------------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_ORDER_H
#define MLC_PLANNER_CHOICES_ORDER_H

#include "planner/choices/Problem.h"

namespace mlc::planner {

/// A step of an elimination: the table of a node, or of a copy of it, over the
/// neighbours that are left. It adds up edges and the minima of earlier tables.
struct EliminationBucket {
  uint32_t node = 0;
  /// The node's copy; a node that is not split has one.
  uint32_t copy = 0;
  /// Copies of other nodes, those that are eliminated last first.
  std::vector<uint32_t> scope;
  std::vector<uint32_t> edges;   ///< of the problem, with this copy
  std::vector<uint32_t> buckets; ///< earlier ones, whose minima are over it
};

/// Buckets in order, and copies.
struct EliminationOrder {
  std::vector<EliminationBucket> buckets;
  /// Of each copy its node and its bucket.
  std::vector<uint32_t> nodeOf, bucketOf;
  /// Of each node its copies.
  std::vector<std::vector<uint32_t>> copiesOf;

  bool isExact() const { return nodeOf.size() == copiesOf.size(); }
};

/// An order after min-fill: next comes the node whose elimination connects the
/// fewest pairs of neighbours. A table has at most `maxEntries`, or as many as
/// an edge: the tables of a node that would have more are put into several, of
/// copies of the node (mini-buckets, Dechter and Rish 2003).
EliminationOrder findOrder(const ChoiceProblem &problem, double maxEntries);

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_ORDER_H
