//===- Solution.h - What solvers of choices are told, and find --*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_SOLUTION_H
#define MLC_PLANNER_CHOICES_SOLUTION_H

#include "planner/choices/Problem.h"

#include <algorithm>
#include <cmath>

namespace mlc::planner {

struct ChoiceOptions {
  /// The most entries of a table; above them nodes are split and the bound is
  /// of a relaxation.
  double maxEntries = 1e6;
  /// The most steps up that multipliers take before branches are tried.
  unsigned iterations = 400;
  /// Work is counted in costs that are looked at, about 3 10^8 a second. What
  /// is found until then counts.
  double steps = 2e9;
  /// Ends where cost and bound differ by this share, or less.
  double gap = 1e-9;
};

struct ChoiceSolution {
  Choices choices;
  double cost = 0;
  /// No choices that fit cost less.
  double bound = 0;
  /// The most neighbours in a table, and how many copies nodes were split into.
  size_t width = 0, copies = 0;
  double steps = 0;

  /// How much of the cost could be saved at most.
  double gap() const {
    const double size = std::max(std::abs(cost), std::abs(bound));
    return size > 0 ? std::max(0.0, cost - bound) / size : 0;
  }
  bool isProved(double tolerance = 1e-9) const { return gap() <= tolerance; }
};

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_SOLUTION_H
