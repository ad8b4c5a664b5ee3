//===- Relaxation.h - A problem without its rows ----------------*- C++ -*-===//
//
// Rows become costs of their bytes, and copies of a node may differ at a cost
// (Lagrange's multipliers), so that an elimination solves what is left. For any
// multipliers its minimum is at most the cost of the best solution.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_CHOICES_RELAXATION_H
#define MLC_PLANNER_CHOICES_RELAXATION_H

#include "planner/choices/Elimination.h"

namespace mlc::planner {

class Relaxation {
public:
  struct Multipliers {
    std::vector<double> byteCosts; ///< of each row, from 0 on
    /// Of copies of split nodes: what each choice costs in addition. The sums
    /// over a node's copies are 0.
    CopyCosts copyCosts;
  };

  /// Of a problem that outlives it, with tables as Elimination has them.
  Relaxation(const ChoiceProblem &problem, double maxEntries);

  Multipliers zero() const;
  /// The least sum of costs, where choices with `allowed` false are left out
  /// (null: none is).
  double evaluate(const Multipliers &at,
                  const std::vector<std::vector<bool>> *allowed = nullptr);
  /// The choices that have this sum, of the first copy of each node.
  Choices choices() const;
  /// Goes from `at`, where evaluate has just been, a step up: as far as it
  /// takes to come to `target` if the sum went on as it begins, times `factor`
  /// (Polyak's step). False if `at` is the top already.
  bool climb(Multipliers &at, double target, double factor);
  /// For each node and choice, the least sum with it where evaluate has just
  /// been; of split nodes, the largest of their copies.
  std::vector<std::vector<double>> marginals();

  bool isExact() const { return elimination.isExact(); }
  const Elimination &getElimination() const { return elimination; }
  double steps() const { return count; }

private:
  void findScales();

  const ChoiceProblem &problem;
  Elimination elimination;
  /// Multipliers are measured in these units, so that all have slopes of about
  /// the same size: what a byte of a row is worth, and what a choice costs.
  std::vector<double> byteScales;
  double copyScale = 1;
  CopyCosts costs; ///< of the last evaluate
  Choices found;   ///< of each copy
  double value = 0;
  /// The last direction, which a step goes on with in part (Camerini).
  std::vector<double> direction;
  double count = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_RELAXATION_H
