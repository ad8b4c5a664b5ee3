//===- LeastSquares.cpp - Levenberg and Marquardt's method ----------------===//

#include "simulator/iteration/LeastSquares.h"
#include <algorithm>
#include <cmath>

using namespace mlc::simulator;

namespace {

using Vector = std::vector<double>;

double sumOfSquares(const Vector &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return sum;
}

/// The normal equations of one point: J'J, and J'r.
struct Normal {
  std::vector<Vector> matrix;
  Vector gradient;
};

Normal makeNormal(const Residuals &residuals, const Vector &point,
                  const Vector &at) {
  constexpr double step = 1e-6;
  const size_t n = point.size();
  std::vector<Vector> columns;
  for (size_t j = 0; j < n; ++j) {
    Vector moved = point;
    moved[j] += step;
    columns.push_back(residuals(moved));
    for (size_t i = 0; i < at.size(); ++i)
      columns[j][i] = (columns[j][i] - at[i]) / step;
  }
  Normal normal{std::vector<Vector>(n, Vector(n)), Vector(n)};
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < n; ++k)
      for (size_t i = 0; i < at.size(); ++i)
        normal.matrix[j][k] += columns[j][i] * columns[k][i];
    for (size_t i = 0; i < at.size(); ++i)
      normal.gradient[j] += columns[j][i] * at[i];
  }
  return normal;
}

/// Solves (matrix + damping * diagonal) x = -gradient by Cholesky's method;
/// false if that is not positive definite.
bool solve(const Normal &normal, double damping, Vector &x) {
  const size_t n = normal.gradient.size();
  std::vector<Vector> lower = normal.matrix;
  for (size_t i = 0; i < n; ++i)
    lower[i][i] += damping * (normal.matrix[i][i] + 1e-9);
  x.assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    double right = -normal.gradient[i];
    for (size_t j = 0; j <= i; ++j) {
      double sum = lower[i][j];
      for (size_t k = 0; k < j; ++k)
        sum -= lower[i][k] * lower[j][k];
      if (i == j && !(sum > 0))
        return false;
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
    }
    for (size_t k = 0; k < i; ++k)
      right -= lower[i][k] * x[k];
    x[i] = right / lower[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k)
      x[i] -= lower[k][i] * x[k];
    x[i] /= lower[i][i];
  }
  return true;
}

} // namespace

std::vector<double>
mlc::simulator::leastSquares(const Residuals &residuals,
                             std::vector<double> point,
                             const LeastSquaresOptions &options) {
  Vector at = residuals(point);
  double sum = sumOfSquares(at), damping = 1e-2;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const Normal normal = makeNormal(residuals, point, at);
    bool moved = false;
    double before = sum;
    for (int trial = 0; trial < 10 && !moved; ++trial) {
      Vector step;
      if (solve(normal, damping, step)) {
        Vector next = point;
        for (size_t j = 0; j < next.size(); ++j)
          next[j] +=
              std::clamp(step[j], -options.longestStep, options.longestStep);
        Vector there = residuals(next);
        const double less = sumOfSquares(there);
        if (std::isfinite(less) && less < sum) {
          point = std::move(next);
          at = std::move(there);
          sum = less;
          moved = true;
        }
      }
      damping = moved ? std::max(damping / 5, 1e-9) : damping * 4;
    }
    if (!moved || before - sum < options.tolerance * before)
      break;
  }
  return point;
}
