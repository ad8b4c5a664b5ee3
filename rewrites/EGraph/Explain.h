//===- Explain.h - The steps that a result needs ----------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_EXPLAIN_H
#define MLC_REWRITES_EGRAPH_EXPLAIN_H

#include "rewrites/EGraph/Saturate.h"
#include "rewrites/ProofLog/Trail.h"

namespace mlc::egraph {

/// An operator of a result: a Compute node, and for each child the node that
/// is read (equal to the child, or a refinement of it): an argument or a chosen
/// node's result.
struct ChosenNode {
  NodeId node;
  llvm::SmallVector<NodeId, 3> operands;
};

/// The origin of the function's nodes, and the gain of a step.
struct Origins {
  /// The function's arguments and operators' nodes, in order.
  llvm::ArrayRef<NodeId> arguments, operators;
  /// The operators' places, one per operator.
  llvm::ArrayRef<std::string> places;
  llvm::function_ref<double(const Application &)> gainOf;
};

/// The trail of a result: the applications that made a chosen node or that an
/// equality depends on, in the order in which they were made. `outputs` pairs
/// what the function returned with what it returns now.
Trail explainResult(const EGraph &graph, const Saturation &saturation,
                    const Origins &origins, llvm::ArrayRef<ChosenNode> chosen,
                    llvm::ArrayRef<std::pair<NodeId, NodeId>> outputs);

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_EXPLAIN_H
