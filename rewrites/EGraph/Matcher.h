//===- Matcher.h - Where a rule lies over an e-graph ------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_MATCHER_H
#define MLC_REWRITES_EGRAPH_MATCHER_H

#include "rewrites/EGraph/EGraph.h"
#include "rewrites/EGraph/RuleProgram.h"
#include "rewrites/Rules/Equations.h"
#include <limits>

namespace mlc::egraph {

/// A rule laid over a graph.
struct EMatch {
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

/// Nodes by the name of their operator; those of classes that are known at
/// compile time only where they are asked for.
class NodeIndex {
public:
  NodeIndex(const EGraph &graph, bool withWeights);
  llvm::ArrayRef<NodeId> operator[](mlir::OperationName name) const;

private:
  llvm::DenseMap<const void *, std::vector<NodeId>> byName;
};

/// What is told of matches while they are looked for. Nodes keep their
/// operators and types: whether equations have a solution never changes.
class EMatchVisitor {
public:
  virtual ~EMatchVisitor() = default;
  /// On so many nodes may an operator of the rule still be laid; it counts
  /// down, and at 0 there are no more matches.
  uint64_t stepsLeft = std::numeric_limits<uint64_t>::max();
  /// Whether to go on, of nodes that fit in form.
  virtual bool wants(const EMatch &ematch) { return true; }
  /// Those of them whose equations have no solution.
  virtual void refuse(const EMatch &ematch) {}
  /// A match: form, types and equations fit; conditions are not looked at.
  /// False: no more.
  virtual bool take(const EMatch &ematch) = 0;
};

/// Visits the matches of the rule whose first result is given by a node that
/// `isRoot`, in a fixed order.
void findEMatches(
    const EGraph &graph, const NodeIndex &index, const RuleProgram &program,
    EMatchVisitor &visitor,
    llvm::function_ref<bool(NodeId)> isRoot = [](NodeId) { return true; });

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_MATCHER_H
