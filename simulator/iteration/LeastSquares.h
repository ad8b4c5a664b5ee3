//===- LeastSquares.h - Levenberg and Marquardt's method --------*- C++ -*-===//

#ifndef MLC_SIMULATOR_ITERATION_LEASTSQUARES_H
#define MLC_SIMULATOR_ITERATION_LEASTSQUARES_H

#include <functional>
#include <vector>

namespace mlc::simulator {

/// The residuals at a point, always equally many.
using Residuals =
    std::function<std::vector<double>(const std::vector<double> &)>;

struct LeastSquaresOptions {
  int iterations = 60;
  /// It ends when the sum of squares falls by less than this share.
  double tolerance = 1e-7;
  /// The longest step of a coordinate.
  double longestStep = 1;
};

/// Lowers the sum of squares of `residuals` from `point` by Levenberg's and
/// Marquardt's method with forward differences, and returns the last point.
/// Deterministic. A point where a residual is not finite is not taken.
std::vector<double> leastSquares(const Residuals &residuals,
                                 std::vector<double> point,
                                 const LeastSquaresOptions &options = {});

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_ITERATION_LEASTSQUARES_H
