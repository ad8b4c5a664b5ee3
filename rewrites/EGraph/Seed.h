//===- Seed.h - Another engine's steps in an e-graph ------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_SEED_H
#define MLC_REWRITES_EGRAPH_SEED_H

#include "rewrites/EGraph/Select.h"

namespace mlc::egraph {

/// Replays a trail that another engine has found for the function of `origin`,
/// so that the graph contains its result. Returns the operators of that result;
/// nullopt if a step cannot be applied.
std::optional<std::vector<NodeId>>
seed(const Trail &trail, const FunctionNodes &origin, EGraph &graph,
     Saturation &saturation, llvm::ArrayRef<const RuleProgram *> programs);

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_SEED_H
