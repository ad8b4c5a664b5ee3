//===- EGraph.h - Many ways to write one function, at once ------*- C++ -*-===//
//
// Read this header first. A *node* (e-node) is an operator applied to children:
// a term exactly as the function or a rule made it. Nodes that are known to be
// equal form a *class* (e-class). Merging two classes makes parents equal that
// differ in nothing else (congruence); that is deferred to `rebuild`. How nodes
// and classes are held is in Congruence.h.
//
// A node is a few numbers, not an MLIR operation: an interned operator, the
// nodes that it was made with, and who made it. An operator with several
// results is a tuple node followed by one projection node for each result.
// Constants are leaves: their attribute is their identity.
//
// *Refinement.* What is proved of a rule has a direction: wherever `before` is
// defined, `after` equals it. Where the other direction is not proved too,
// nothing is merged: the class of `after` is noted as a refinement of that of
// `before`, which may be computed by it. It goes on through classes, and up
// through operators, each element of which is defined where what it reads is;
// but nothing is looked for below a class in what refines it.
//
// Every class carries what all of its nodes share: the tensor type (dims are
// IntExprs, so open dims are fine) and whether its value is known when the
// model is compiled. A forest over nodes remembers why classes were merged, so
// that any equality can be explained by steps that were taken before it.
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
/// Made by the function itself; of a merge: congruence.
inline constexpr ApplicationId noApplication = ~0u >> 1;

struct Node {
  OperatorId op;
  ApplicationId maker;
};

/// What holds of every node of a class.
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
  /// What an argument is assumed to satisfy: bits by ElementPredicate.
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
  /// A new node, merged with a congruent one where there is one. Of a tuple,
  /// the projections are the nodes that follow it. The types must fit: see
  /// `resultTypes`.
  NodeId add(OperatorId op, llvm::ArrayRef<NodeId> children,
             ApplicationId maker);
  /// Makes two classes one. False, with nothing done, when their types differ.
  bool merge(NodeId a, NodeId b, ApplicationId reason);
  /// Notes that wherever `from` is defined, `to` is, and equals it. False, with
  /// nothing done, when their types differ.
  bool refine(NodeId from, NodeId to, ApplicationId reason);
  /// Restores congruence and what classes know, after merges.
  void rebuild();
  /// Nodes of the classes that were merged or became known at compile time
  /// since this was asked last; of what was added, nothing.
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
  /// The operation that stands for a Compute node; for pricing.
  mlir::Operation *prototypeOf(NodeId node);
  /// Whether the results of an operator are known at compile time when its
  /// operands are.
  static bool keepsCompileTime(mlir::Operation *op);
  size_t numNodes() const { return terms.numNodes(); }
  size_t numClasses() const { return terms.numClasses(); }
  /// Merges so far: tells whether anything has changed.
  size_t numMerges() const { return merges; }
  /// The literal of a class, if it has one that is written out.
  mlir::DenseElementsAttr literalOf(NodeId node) const;
  /// Whether the value of `from` depends on that of `to` through any node that
  /// is not known at compile time.
  bool dependsOn(NodeId from, NodeId to) const;

  /// A refinement as it was noted.
  struct Refinement {
    NodeId from, to;
    ApplicationId reason;
  };
  using RefinementPath = llvm::SmallVector<Refinement, 1>;
  llvm::ArrayRef<Refinement> getRefinements() const { return refinements; }
  /// The way from a class to one that refines it, empty where they are equal;
  /// nothing where there is none. Between two refinements nodes are equal.
  std::optional<RefinementPath> findRefinement(NodeId from, NodeId to) const;

  //===-- Why -------------------------------------------------------------===//

  /// One step on the way from a node to an equal one.
  struct Link {
    NodeId from, to;
    ApplicationId reason;
  };
  /// The way from `a` to `b`, which are equal: only merges that were made
  /// before they became so.
  llvm::SmallVector<Link> explain(NodeId a, NodeId b) const;
  /// For a node that shows that a class is known at compile time: the nodes
  /// that show it of its children.
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
  /// The forest of reasons: a node's way towards its root.
  std::vector<std::pair<NodeId, ApplicationId>> towardsRoot;
  std::unordered_map<NodeId, llvm::SmallVector<NodeId, 2>> shownBy;
  /// Classes that `rebuild` has to look at.
  std::vector<NodeId> newlyCompileTime;
  std::vector<Refinement> refinements;
  std::vector<NodeId> changed;
  size_t merges = 0;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_EGRAPH_H
