//===- OperatorPlanner.h - A search for strategies --------------*- C++ -*-===//
//
// Searches the space that FlexFlow walks through (Mcmc.h). It begins with the
// best of strategies that are known and of an elimination, lets layers and
// repeated blocks change together, and then walks with changes of operators,
// of layers, and of neighbours, at costs that are weighed more and more. The
// best strategies that were seen are improved at the end.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_OPERATORS_OPERATORPLANNER_H
#define MLC_PLANNER_OPERATORS_OPERATORPLANNER_H

#include "planner/operators/StrategySpace.h"

namespace mlc::planner {

/// The same plan for the same graph, devices and number of proposals, which is
/// the effort. `simulator` has the devices, and strategies of the space in
/// force; the plan is not slower than these.
OperatorPlan planOperators(StepSimulator &simulator, const OperatorGraph &graph,
                           const StrategySpace &space,
                           const simulator::Network &network,
                           int64_t proposals = 300'000);

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_OPERATORPLANNER_H
