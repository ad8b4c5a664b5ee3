//===- Matcher.h - Matches of a rule in an e-graph --------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_MATCHER_H
#define MLC_REWRITES_EGRAPH_MATCHER_H

#include "rewrites/EGraph/EGraph.h"
#include "rewrites/EGraph/RuleProgram.h"
#include "rewrites/Rules/Equations.h"
#include <limits>

namespace mlc::egraph {

/// A match of a rule in a graph.
struct EMatch {
  /// The nodes of the rule's operators, in order.
  llvm::SmallVector<NodeId, 4> nodes;
  /// The first node met for each of its values (RuleProgram's numbers), or
  /// noNode.
  llvm::SmallVector<NodeId, 8> values;
  /// The values of its symbols, by slot. Null: only the built side has it.
  llvm::SmallVector<IntExpr, 8> integers;
  llvm::SmallVector<RealAttr, 2> reals;

  Bindings bindings(const RuleProgram &program) const;
  /// The node of a value of the rule: the result of the matched node, or the
  /// node bound to an argument.
  NodeId resultNode(const EGraph &graph, const RuleProgram &program,
                    unsigned value) const;
};

/// Nodes by the name of their operator; nodes of classes that are known at
/// compile time only on request.
class NodeIndex {
public:
  NodeIndex(const EGraph &graph, bool withWeights);
  llvm::ArrayRef<NodeId> operator[](mlir::OperationName name) const;

private:
  llvm::DenseMap<const void *, std::vector<NodeId>> byName;
};

/// Receives matches during the search. Nodes keep their operators and types, so
/// whether equations have a solution never changes.
class EMatchVisitor {
public:
  virtual ~EMatchVisitor() = default;
  /// How many more nodes the matcher may try; at 0 there are no more matches.
  uint64_t stepsLeft = std::numeric_limits<uint64_t>::max();
  /// Whether to continue with nodes that match in form.
  virtual bool wants(const EMatch &ematch) { return true; }
  /// Called for such nodes if their equations have no solution.
  virtual void refuse(const EMatch &ematch) {}
  /// A match: form, types and equations fit; conditions are not checked.
  /// Returns false to stop.
  virtual bool take(const EMatch &ematch) = 0;
};

/// Visits, in a fixed order, the matches of the rule whose first result comes
/// from a node that `isRoot`.
void findEMatches(
    const EGraph &graph, const NodeIndex &index, const RuleProgram &program,
    EMatchVisitor &visitor,
    llvm::function_ref<bool(NodeId)> isRoot = [](NodeId) { return true; });

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_MATCHER_H
