//===- OperatorPlans.h - Plans of strategies of operators -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_OPERATORPLANS_H
#define MLC_TOOLS_MLC_OPERATORPLANS_H

#include "planner/operators/Strategy.h"
#include "runtime/plan/Plan.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// A plan file's plan of strategies, all of which are on all devices: a mesh
/// whose first axis splits the samples of all operators, and further axes; for
/// weights and named results, the axes that split their dims. Fails where
/// operators are divided so that no mesh has all of their parts, and names one.
llvm::Expected<runtime::Plan> makePlan(const planner::OperatorGraph &graph,
                                       const planner::Strategies &strategies,
                                       int32_t devices);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_OPERATORPLANS_H
