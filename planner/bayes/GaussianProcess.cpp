//===- GaussianProcess.cpp - Regression with a known error ----------------===//

#include "planner/bayes/GaussianProcess.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace mlc::planner;

namespace mlc::planner {

struct GaussianProcess::State {
  std::vector<FeatureKind> kinds;
  std::vector<Features> points;
  Kernel kernel;
  /// The Cholesky factor of the points' covariance, as a share of scale².
  Eigen::LLT<Eigen::MatrixXd> factor;
  /// The inverse covariance times what the values are above the mean.
  Eigen::VectorXd weights;
  double logLikelihood = 0;

  double correlation(const Features &a, const Features &b) const;
  bool factorize(const std::vector<double> &lengths, double noise);
  void setValues(const Eigen::VectorXd &values);
  double tryLengths(const std::vector<double> &lengths,
                    const Eigen::VectorXd &values);
};

} // namespace mlc::planner

double GaussianProcess::State::correlation(const Features &a,
                                           const Features &b) const {
  double squares = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const double apart =
        kinds[i] == FeatureKind::Category ? double(a[i] != b[i]) : a[i] - b[i];
    squares += apart * apart / (kernel.lengths[i] * kernel.lengths[i]);
  }
  const double r = std::sqrt(5 * squares);
  return (1 + r + 5 * squares / 3) * std::exp(-r);
}

/// False if the covariance is singular to the last bit.
bool GaussianProcess::State::factorize(const std::vector<double> &lengths,
                                       double noise) {
  kernel.lengths = lengths;
  kernel.noise = noise;
  const auto count = Eigen::Index(points.size());
  Eigen::MatrixXd covariance(count, count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      covariance(i, j) =
          correlation(points[i], points[j]) + (i == j ? noise : 0);
  factor.compute(covariance.selfadjointView<Eigen::Lower>());
  return factor.info() == Eigen::Success;
}

void GaussianProcess::State::setValues(const Eigen::VectorXd &values) {
  const Eigen::VectorXd above = values.array() - kernel.mean;
  weights = factor.solve(above);
  const Eigen::MatrixXd lower = factor.matrixL();
  const double count = double(values.size()),
               variance = kernel.scale * kernel.scale;
  logLikelihood = -0.5 * (above.dot(weights) / variance +
                          2 * lower.diagonal().array().log().sum() +
                          count * std::log(2 * std::numbers::pi * variance));
}

/// The log of the posterior density of these lengths, with the mean and scale
/// that are best for them.
double GaussianProcess::State::tryLengths(const std::vector<double> &lengths,
                                          const Eigen::VectorXd &values) {
  // Simulations have no noise, but hidden structure that the kernel lacks.
  if (!factorize(lengths, 1e-4))
    return -std::numeric_limits<double>::infinity();
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(values.size()),
                        solved = factor.solve(ones);
  kernel.mean = solved.dot(values) / solved.dot(ones);
  const Eigen::VectorXd above = values.array() - kernel.mean;
  const double least = 1e-12 * std::max(1.0, std::abs(kernel.mean));
  kernel.scale = std::max(
      least, std::sqrt(above.dot(factor.solve(above)) / double(values.size())));
  setValues(values);
  // Between sizes there may be steps; most categories matter little.
  double prior = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const double usual = kinds[i] == FeatureKind::Ordered ? 0.4 : 2;
    prior -= 0.5 * std::pow(std::log(lengths[i] / usual), 2);
  }
  return logLikelihood + prior;
}

GaussianProcess::GaussianProcess(std::vector<FeatureKind> kinds)
    : state(std::make_unique<State>()) {
  state->kinds = std::move(kinds);
}

GaussianProcess::~GaussianProcess() = default;

static Eigen::VectorXd toVector(const std::vector<double> &values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(),
                                           Eigen::Index(values.size()));
}

void GaussianProcess::observe(const std::vector<Features> &points,
                              const std::vector<double> &values,
                              const Kernel &kernel) {
  state->points = points;
  state->kernel = kernel;
  state->factorize(kernel.lengths, kernel.noise);
  state->setValues(toVector(values));
}

void GaussianProcess::fit(const std::vector<Features> &points,
                          const std::vector<double> &values) {
  state->points = points;
  const Eigen::VectorXd seen = toVector(values);
  std::vector<double> lengths(state->kinds.size(), 1);
  double best = state->tryLengths(lengths, seen);
  // Steps along the axes, which become finer.
  for (double factor : {4.0, 2.0, 2.0, 1.4, 1.2})
    for (double &length : lengths)
      for (double step : {factor, 1 / factor}) {
        const double before = length;
        length = std::clamp(length * step, 1.0 / 64, 64.0);
        const double found = state->tryLengths(lengths, seen);
        if (found > best)
          best = found;
        else
          length = before;
      }
  state->tryLengths(lengths, seen);
}

Prediction GaussianProcess::predict(const Features &point) const {
  Eigen::VectorXd shared(Eigen::Index(state->points.size()));
  for (Eigen::Index i = 0; i < shared.size(); ++i)
    shared(i) = state->correlation(point, state->points[i]);
  const Eigen::VectorXd explained = state->factor.matrixL().solve(shared);
  const double scale = state->kernel.scale;
  return {state->kernel.mean + shared.dot(state->weights),
          scale * scale * std::max(0.0, 1 - explained.squaredNorm())};
}

const GaussianProcess::Kernel &GaussianProcess::kernel() const {
  return state->kernel;
}

double GaussianProcess::logLikelihood() const { return state->logLikelihood; }

double mlc::planner::expectedImprovement(const Prediction &prediction,
                                         double best) {
  const double deviation = std::sqrt(prediction.variance),
               gain = best - prediction.mean;
  if (!(deviation > 0))
    return std::max(0.0, gain);
  const double z = gain / deviation,
               density =
                   std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi),
               share = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return gain * share + deviation * density;
}
