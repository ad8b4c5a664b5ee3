//===- Matcher.h - Where a rule lies over an e-graph ------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_MATCHER_H
#define MLC_REWRITES_EGRAPH_MATCHER_H

#include "rewrites/EGraph/EGraph.h"
#include "rewrites/EGraph/RuleProgram.h"
#include "rewrites/Equations.h"

namespace mlc::egraph {

/// A rule laid over a graph.
struct Placement {
  /// For the rule's operators, in order.
  llvm::SmallVector<NodeId, 4> nodes;
  /// For its values (RuleProgram's numbers): the node met first, or noNode.
  llvm::SmallVector<NodeId, 8> values;
  /// For its symbols, by slot. Null: only the built side has it.
  llvm::SmallVector<IntExpr, 8> integers;
  llvm::SmallVector<RealAttr, 2> reals;

  Bindings bindings(const RuleProgram &program) const;
  /// Of a value of the rule: the result of the node laid there, or what stands
  /// for an argument.
  NodeId resultNode(const EGraph &graph, const RuleProgram &program,
                    unsigned value) const;
};

/// Nodes by the name of their operator.
class NodeIndex {
public:
  explicit NodeIndex(const EGraph &graph);
  llvm::ArrayRef<NodeId> operator[](mlir::OperationName name) const;

private:
  llvm::DenseMap<const void *, std::vector<NodeId>> byName;
};

/// Calls `callback` for each placement of the rule, in a fixed order, until it
/// returns false: form, types and equations fit. Conditions are not looked at.
void findPlacements(const EGraph &graph, const NodeIndex &index,
                    const RuleProgram &program,
                    llvm::function_ref<bool(const Placement &)> callback);

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_MATCHER_H
