//===- RandomProblem.h - Problems to try solvers on -------------*- C++ -*-===//

#ifndef MLC_PLANNER_CHOICES_RANDOMPROBLEM_H
#define MLC_PLANNER_CHOICES_RANDOMPROBLEM_H

#include "planner/choices/Problem.h"

namespace mlc::planner {

struct RandomProblemOptions {
  uint32_t nodes = 500;
  /// Each node has so many choices at most, and half of that at least.
  uint32_t choices = 10;
  uint32_t rows = 5;
  /// A node reads the one before it and, with this probability each, those
  /// before that, up to `reach` before it.
  uint32_t reach = 3;
  double density = 0.3;
  /// This share of the pairs of choices of an edge exclude each other.
  double excluded = 0;
  /// Budgets lie so far from the least bytes to those of the cheapest choices.
  double room = 0.4;
  uint64_t seed = 0;
};

/// A network of random costs: choices that are cheap use more bytes, most pairs
/// of choices on an edge cost something, and a row has three quarters of the
/// nodes. The same options give the same problem on every machine.
ChoiceProblem makeRandomProblem(const RandomProblemOptions &options);

} // namespace mlc::planner

#endif // MLC_PLANNER_CHOICES_RANDOMPROBLEM_H
