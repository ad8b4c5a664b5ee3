//===- EGraph.h - Equal forms of one function -------------------*- C++ -*-===//
//
// Read this header first. A *node* (e-node) is an operator applied to children:
// a term exactly as the function or a rule made it. Nodes that are known to be
// equal form a *class* (e-class). Merging two classes makes parents equal that
// differ only in these (congruence); this is deferred to `rebuild`.
// Congruence.h stores nodes and classes.
//
// A node is a few numbers, not an MLIR operation: an interned operator, the
// nodes that it was made with, and the rule application that made it. An
// operator with several results is a tuple node followed by one projection node
// for each result. Constants are leaves: their attribute is their identity.
//
// *Refinement.* The proof of a rule has a direction: wherever `before` is
// defined, `after` equals it. If the other direction is not proved as well, the
// classes are not merged. Instead the class of `after` is recorded as a
// refinement of that of `before`, which may be computed by it. Refinement is
// transitive, and it propagates up through operators, whose elements are
// defined where their operands are. The matcher does not look through
// refinements.
//
// Every class carries what all of its nodes share: the tensor type (dims are
// IntExprs, so open dims are fine) and whether its value is known when the
// model is compiled. A forest over nodes records why classes were merged, so
// that any equality can be explained by steps taken before it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EGRAPH_EGRAPH_H
#define MLC_REWRITES_EGRAPH_EGRAPH_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Support/LLVM.h"
#include "rewrites/EGraph/Congruence.h"
#include "rewrites/EGraph/Operators.h"
#include "verifier/Verifier.h"
#include <unordered_map>

namespace mlc::egraph {

/// Which application of a rule made a node or merged two classes.
using ApplicationId = unsigned;
/// For nodes: part of the function itself. For merges: congruence.
inline constexpr ApplicationId noApplication = ~0u >> 1;

struct Node {
  OperatorId op;
  ApplicationId maker;
};

/// Facts that hold for every node of a class.
struct Analysis {
  /// Null for tuples.
  mlir::Type type;
  /// A node that shows that the value is known at compile time, or none.
  NodeId compileTime = noNode;
  /// A literal in the class, or none.
  NodeId literal = noNode;
  /// Some node is computed (not an argument).
  bool isProduced = false;
  /// Some node writes out an infinity or a NaN.
  bool hasNoNumber = false;
  /// The assumptions on an argument: bits by ElementPredicate.
  unsigned elements = 0;

  bool isCompileTime() const { return compileTime != noNode; }
};

/// The analysis, and `nodes` and `parents`.
using ClassData = Congruence<Analysis>::Class;

class EGraph {
public:
  explicit EGraph(mlir::MLIRContext *context) : operators(context) {}

  OperatorTable operators;

  //===-- Building --------------------------------------------------------===//

  /// The argument `index` of the function. `elements` are predicates that it
  /// is assumed to satisfy; Constant makes it known at compile time.
  NodeId addArgument(unsigned index, mlir::Type type,
                     llvm::ArrayRef<ElementPredicate> elements = {});
  /// Adds a node; if a congruent one exists, both are merged. The projections
  /// of a tuple are the nodes that follow it. The types must fit: see
  /// `resultTypes`.
  NodeId add(OperatorId op, llvm::ArrayRef<NodeId> children,
             ApplicationId maker);
  /// Merges two classes. False, with no change, if their types differ.
  bool merge(NodeId a, NodeId b, ApplicationId reason);
  /// Records that wherever `from` is defined, `to` is defined and equal. False,
  /// with no change, if their types differ.
  bool refine(NodeId from, NodeId to, ApplicationId reason);
  /// Restores congruence and the analyses of classes after merges.
  void rebuild();
  /// Nodes of classes that were merged or became known at compile time since
  /// the last call; excludes added nodes.
  std::vector<NodeId> takeChanged() { return std::exchange(changed, {}); }

  //===-- Asking ----------------------------------------------------------===//

  /// The class of a node, as the node that represents it.
  NodeId find(NodeId node) const { return terms.find(node); }
  bool areEqual(NodeId a, NodeId b) const { return find(a) == find(b); }
  const ClassData &classOf(NodeId node) const { return terms.classOf(node); }
  Node operator[](NodeId node) const {
    return {terms.operatorOf(node), makers[node]};
  }
  const Operator &operatorOf(NodeId node) const {
    return operators[terms.operatorOf(node)];
  }
  llvm::ArrayRef<NodeId> children(NodeId node) const {
    return terms.children(node);
  }
  /// The node of result `index` of a Compute node.
  NodeId resultOf(NodeId node, unsigned index) const {
    return operatorOf(node).isTuple() ? node + 1 + index : node;
  }
  /// A node of this form, up to equality of children.
  NodeId lookup(OperatorId op, llvm::ArrayRef<NodeId> children) const {
    return terms.lookup(op, children);
  }
  /// The operation that represents a Compute node; for pricing.
  mlir::Operation *prototypeOf(NodeId node);
  /// Whether the results of an operator are known at compile time when its
  /// operands are.
  static bool keepsCompileTime(mlir::Operation *op);
  size_t numNodes() const { return terms.numNodes(); }
  size_t numClasses() const { return terms.numClasses(); }
  /// The number of merges so far; shows whether anything has changed.
  size_t numMerges() const { return merges; }
  /// The literal of a class, if it has one that is written out.
  mlir::DenseElementsAttr literalOf(NodeId node) const;
  /// Whether the value of `from` depends on that of `to` through any node that
  /// is not known at compile time.
  bool dependsOn(NodeId from, NodeId to) const;

  /// A recorded refinement.
  struct Refinement {
    NodeId from, to;
    ApplicationId reason;
  };
  using RefinementPath = llvm::SmallVector<Refinement, 1>;
  llvm::ArrayRef<Refinement> getRefinements() const { return refinements; }
  /// The path from a class to one that refines it: empty if they are equal,
  /// nullopt if there is none. Between two refinements nodes are equal.
  std::optional<RefinementPath> findRefinement(NodeId from, NodeId to) const;

  //===-- Why -------------------------------------------------------------===//

  /// One step on the path from a node to an equal one.
  struct Link {
    NodeId from, to;
    ApplicationId reason;
  };
  /// The path between the equal nodes `a` and `b`. It uses only merges made
  /// before these became equal.
  llvm::SmallVector<Link> explain(NodeId a, NodeId b) const;
  /// For a node that shows that a class is known at compile time, the nodes
  /// that show it for its children.
  llvm::ArrayRef<NodeId> compileTimeChildren(NodeId node) const;

private:
  NodeId append(OperatorId op, llvm::ArrayRef<NodeId> children,
                ApplicationId maker);
  void makeClass(NodeId node, mlir::Type type);
  void addCongruent(NodeId node, NodeId congruent);
  void link(NodeId a, NodeId b, ApplicationId reason);
  void noteCompileTime(NodeId node);

  Congruence<Analysis> terms;
  std::vector<ApplicationId> makers;
  /// The forest of reasons: each node's edge towards its root.
  std::vector<std::pair<NodeId, ApplicationId>> towardsRoot;
  std::unordered_map<NodeId, llvm::SmallVector<NodeId, 2>> shownBy;
  /// Classes that `rebuild` must visit.
  std::vector<NodeId> newlyCompileTime;
  std::vector<Refinement> refinements;
  std::vector<NodeId> changed;
  size_t merges = 0;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_EGRAPH_H
