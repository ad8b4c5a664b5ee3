//===- Fit.h - Constants of a cluster from measured iterations --*- C++ -*-===//

#ifndef MLC_SIMULATOR_ITERATION_FIT_H
#define MLC_SIMULATOR_ITERATION_FIT_H

#include "simulator/iteration/Iteration.h"
#include <span>

namespace mlc::simulator {

struct FitOptions {
  /// The share of the rows that the fit does not see, from 0 to below 1.
  double holdout = 0.8;
  uint64_t seed = 0; ///< of the choice of rows
};

/// Predictions beside measured times.
struct Agreement {
  int rows = 0;
  /// Whether the fit has not seen them. Of too few rows none is held out.
  bool heldOut = false;
  double meanError = 0, largestError = 0; ///< relative, without sign
  double tau = 0; ///< Kendall's tau-b; NaN where all times are equal
};

/// The row predicted fastest for each model, batch and number of GPUs, beside
/// the fastest one.
struct Choices {
  int groups = 0;                       ///< with two rows or more
  double meanLoss = 0, largestLoss = 0; ///< (chosen - fastest) / fastest
};

struct FitResult {
  Cluster cluster; ///< with the fitted constants
  int fittedRows = 0;
  /// Of rows of one node, and of several: each of those that the fit has not
  /// seen, or of all if it has seen all.
  Agreement oneNode, manyNodes;
  /// Over all rows of one node.
  Choices choices;
};

/// Fits the constants of `cluster` to a random part of `rows`, of those of one
/// node and of several the same share: least squares of the logarithms of
/// predicted over measured times, in which rows that are far off count less
/// (Huber's weights), and constants are drawn to those of `cluster`.
/// `rows` is not empty and fits `cluster`; predictions of them are finite.
FitResult fit(const Cluster &cluster, std::span<const Iteration> rows,
              const FitOptions &options);

/// Kendall's tau-b of two lists of one length.
double kendallTau(std::span<const double> a, std::span<const double> b);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_ITERATION_FIT_H
