//===- Mcmc.cpp - FlexFlow's search for strategies ------------------------===//

#include "planner/operators/Mcmc.h"
#include <cmath>

using namespace mlc::planner;
using mlc::simulator::Time;

OperatorPlan mlc::planner::walk(StepSimulator &simulator,
                                const StrategySpace &space,
                                const McmcOptions &options) {
  OperatorPlan best;
  best.strategies = simulator.strategies();
  best.span = simulator.span();
  best.bytes = simulator.bytes();
  const double scale = options.beta / double(std::max<Time>(best.span, 1));
  Draws draws(options.seed);
  for (; best.proposals < options.proposals; ++best.proposals) {
    Change change;
    change.op = int32_t(draws.below(simulator.strategies().size()));
    const std::vector<Strategy> &all = space.of(change.op);
    change.strategy = all[draws.below(all.size())];
    const double longest =
        double(simulator.span()) - std::log1p(-draws.unit()) / scale;
    if (double(simulator.propose({&change, 1})) > longest) {
      simulator.reject();
    } else {
      simulator.accept();
      ++best.accepted;
      if (simulator.span() < best.span) {
        best.strategies = simulator.strategies();
        best.span = simulator.span();
        best.bytes = simulator.bytes();
      }
    }
    if (options.onState)
      options.onState(simulator);
  }
  return best;
}
