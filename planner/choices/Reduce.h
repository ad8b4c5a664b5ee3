//===- Reduce.h - Choices that no best solution needs -----------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_REDUCE_H
#define MLC_PLANNER_CHOICES_REDUCE_H

#include "planner/choices/Problem.h"

namespace mlc::planner {

/// A problem without some choices, one edge at most between two nodes, and no
/// edges of nodes with a single choice.
struct ReducedProblem {
  ChoiceProblem problem;
  /// For each node, the choices of the original that it still has.
  std::vector<std::vector<uint32_t>> kept;

  Choices toOriginal(const Choices &choices) const;
  Choices toReduced(const Choices &original) const;
};

/// Leaves out each choice that another one of its node can always replace: it
/// costs no more, whatever the neighbours choose (Goldstein 1994), and uses no
/// more of any row. The best solutions that are left cost the same.
ReducedProblem reduce(const ChoiceProblem &problem);

/// The same without the choices that `isKept` is false for. Each node keeps
/// one.
ReducedProblem restrictTo(const ChoiceProblem &problem,
                          const std::vector<std::vector<bool>> &isKept);

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_REDUCE_H
