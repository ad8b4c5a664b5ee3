//===- GaussianProcess.h - Regression with a known error --------*- C++ -*-===//
//
// A Gaussian process with a Matérn kernel of 5/2 and a length for each feature
// (Rasmussen and Williams 2006, chapters 2 and 5). The lengths are those that
// make what was seen most probable.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_BAYES_GAUSSIANPROCESS_H
#define MLC_PLANNER_BAYES_GAUSSIANPROCESS_H

#include <memory>
#include <vector>

namespace mlc::planner {

/// How far two values of a feature are apart.
enum class FeatureKind : uint8_t {
  Ordered, ///< by their difference
  Category ///< 1 if they differ, else 0
};

using Features = std::vector<double>;

struct Prediction {
  double mean = 0, variance = 0;
};

class GaussianProcess {
public:
  /// The kernel's parameters. The values' standard deviation is `scale` around
  /// `mean`; `noise` is the variance of an observation, as a share of scale².
  struct Kernel {
    std::vector<double> lengths;
    double mean = 0, scale = 1, noise = 1e-6;
  };

  /// One kind for each feature.
  explicit GaussianProcess(std::vector<FeatureKind> kinds);
  ~GaussianProcess();

  /// Takes what was seen, at least one point, with a given kernel; each length
  /// is positive.
  void observe(const std::vector<Features> &points,
               const std::vector<double> &values, const Kernel &kernel);
  /// The same with the most probable kernel: mean and scale follow from the
  /// lengths, which are searched for along the axes in a fixed number of steps,
  /// with a log-normal prior.
  void fit(const std::vector<Features> &points,
           const std::vector<double> &values);

  /// Of the values at a point, without the noise of an observation.
  Prediction predict(const Features &point) const;
  const Kernel &kernel() const;
  /// The logarithm of the density of what was seen.
  double logLikelihood() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// By how much a value below `best` is expected to be lower, where a value has
/// the normal distribution of the prediction (Jones, Schonlau and Welch 1998).
double expectedImprovement(const Prediction &prediction, double best);

} // namespace mlc::planner

#endif // MLC_PLANNER_BAYES_GAUSSIANPROCESS_H
