//===- Mcmc.h - FlexFlow's search for strategies ----------------*- C++ -*-===//
//
// Jia, Zaharia and Aiken, "Beyond data and model parallelism for deep neural
// networks", MLSys 2019, section 6: a Markov chain whose stationary
// distribution is proportional to exp(-beta * cost). A proposal gives a random
// operator a random strategy; it is accepted with the probability
// min(1, exp(beta * (cost - proposed cost))) (Metropolis et al. 1953, Hastings
// 1970).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_OPERATORS_MCMC_H
#define MLC_PLANNER_OPERATORS_MCMC_H

#include "planner/operators/StrategySpace.h"
#include <functional>

namespace mlc::planner {

struct McmcOptions {
  uint64_t seed = 0;
  int64_t proposals = 200'000;
  /// Of a cost that is the step over the first step. At 300, a step that is a
  /// percent longer is accepted in one of 20 cases.
  double beta = 300;
  /// Called with the state behind each proposal.
  std::function<void(const StepSimulator &)> onState;
};

/// Walks from the strategies that are in force in `simulator`. The plan is the
/// best that was seen.
OperatorPlan walk(StepSimulator &simulator, const StrategySpace &space,
                  const McmcOptions &options);

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_MCMC_H
