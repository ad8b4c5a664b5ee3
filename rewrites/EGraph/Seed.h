//===- Seed.h - Another engine's steps in an e-graph ----------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_SEED_H
#define MLC_REWRITES_EGRAPH_SEED_H

#include "rewrites/EGraph/Select.h"

namespace mlc::egraph {

/// Takes the steps of a trail that another engine has found for the function
/// of `origin`, so that its result is among those that the graph holds.
/// Returns the operators of that result; nothing when a step cannot be taken.
std::optional<std::vector<NodeId>>
seed(const Trail &trail, const FunctionNodes &origin, EGraph &graph,
     Saturation &saturation, llvm::ArrayRef<const RuleProgram *> programs);

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_SEED_H
