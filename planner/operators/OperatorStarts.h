//===- OperatorStarts.h - Where a search for strategies begins --*- C++ -*-===//

#ifndef MLC_PLANNER_OPERATORS_OPERATORSTARTS_H
#define MLC_PLANNER_OPERATORS_OPERATORSTARTS_H

#include "planner/operators/OperatorClasses.h"
#include "planner/operators/StrategySpace.h"

namespace mlc::planner {

/// Strategies that are known from the literature: samples on all devices or on
/// fewer; products of samples and parameters; layers in groups of equal work,
/// each on devices of its own.
std::vector<Strategies> listKnown(const OperatorGraph &graph,
                                  const StrategySpace &space,
                                  const std::vector<OperatorClass> &layers,
                                  int32_t devices);

/// The best strategies on all devices, where each layer has one, if nothing
/// overlapped: what operators, exchanges and sums take adds up. Exact
/// elimination (planner/choices), as OptCNN has it (Jia et al. 2018), within
/// some steps.
Strategies eliminate(const OperatorGraph &graph, const StrategySpace &space,
                     const std::vector<OperatorClass> &layers,
                     const simulator::Network &network, int32_t devices);

} // namespace mlc::planner

#endif // MLC_PLANNER_OPERATORS_OPERATORSTARTS_H
