//===- Solve.h - The cheapest choices that fit ------------------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_SOLVE_H
#define MLC_PLANNER_CHOICES_SOLVE_H

#include "planner/choices/Solution.h"

namespace mlc::planner {

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
