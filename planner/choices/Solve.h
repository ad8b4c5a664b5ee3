//===- Solve.h - The cheapest choices that fit ------------------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_SOLVE_H
#define MLC_PLANNER_CHOICES_SOLVE_H

#include "planner/choices/Problem.h"

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

  double gap() const;
  bool isProved(double tolerance = 1e-9) const { return gap() <= tolerance; }
};

/// Eliminates nodes; rows are priced by Lagrange's multipliers, and what that
/// leaves open is branched on while steps are left. Without rows, and where
/// tables are not too large, the first elimination is the answer. An error if
/// no choices fit, with the tightest row and the least bytes that it needs, and
/// if none was found.
runtime::Status solveByElimination(const ChoiceProblem &problem,
                                   const ChoiceOptions &options,
                                   ChoiceSolution &solution);

/// The same as an integer program through CBC: a variable for each choice, and
/// one for each pair of choices of an edge, which adds up to both. The bound
/// is that of `nodes` nodes of its tree.
runtime::Status solveByIntegerProgram(const ChoiceProblem &problem, int nodes,
                                      ChoiceSolution &solution);

/// What the row needs at least, whatever the others and the costs are; choices
/// that exclude each other are not taken together.
int64_t leastBytes(const ChoiceProblem &problem, const ChoiceProblem::Row &row,
                   double maxEntries = 1e6);

/// The error where no choices fit: names the row whose least bytes exceed its
/// budget by the largest share, or the one that comes nearest to it.
runtime::Status describeMisfit(const ChoiceProblem &problem, bool isProved);

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_SOLVE_H
