//===- Congruence.h - Terms up to equality ----------------------*- C++ -*-===//
//
// The part of e-graphs that does not depend on operators: hash-consed e-nodes,
// e-classes of equal nodes in a union-find, and the congruence closure, which
// is deferred to `rebuild` and restored over the parents of merged classes
// (Willsey et al., egg, POPL 2021).
//
// An operator is a number. `Data` holds what is known about all nodes of a
// class; the caller that merges classes merges it. `Order` sorts the children
// of commutative operators.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_EGRAPH_CONGRUENCE_H
#define MLC_REWRITES_EGRAPH_CONGRUENCE_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <unordered_map>
#include <vector>

namespace mlc::egraph {

using NodeId = unsigned;
/// Not ~0u, which DenseMap uses as its empty key.
inline constexpr NodeId noNode = ~0u >> 1;
using OperatorId = unsigned;

/// Children stay in the order in which a node was made with them.
struct AsMade {
  void operator()(OperatorId, llvm::MutableArrayRef<NodeId>) const {}
};

template <typename Data, typename Order = AsMade> class Congruence {
public:
  struct Class : Data {
    /// Its nodes, one of each set of congruent ones.
    llvm::SmallVector<NodeId, 2> nodes;
    /// Nodes with a child in the class, one of each set of congruent ones.
    llvm::SmallVector<NodeId, 4> parents;
  };
  using Form = llvm::SmallVector<unsigned, 4>; // the operator, then classes

  //===-- Building --------------------------------------------------------===//

  /// A new node, without a class; the caller must call makeClass or joinClass
  /// next.
  NodeId append(OperatorId op, llvm::ArrayRef<NodeId> children) {
    NodeId node = nodes.size();
    nodes.push_back({op, static_cast<unsigned>(childLists.size()),
                     static_cast<unsigned>(children.size())});
    childLists.insert(childLists.end(), children.begin(), children.end());
    representatives.push_back(node);
    classes.emplace_back();
    return node;
  }
  /// Gives `node`, the first of its form, a class of its own.
  void makeClass(NodeId node, Data data) {
    static_cast<Data &>(classes[node]) = std::move(data);
    classes[node].nodes.push_back(node);
    byForm.try_emplace(formOf(node), node);
    for (NodeId child : children(node))
      classes[find(child)].parents.push_back(node);
    ++liveNodes;
    ++liveClasses;
  }
  /// Puts `node` into the class of `congruent`; no class lists it.
  void joinClass(NodeId node, NodeId congruent) {
    representatives[node] = find(congruent);
  }
  /// Moves the nodes of a class into another; both are representatives. The
  /// caller merges the data; that of `from` is lost.
  void unite(NodeId into, NodeId from) {
    representatives[from] = into;
    Class &target = classes[into], &source = classes[from];
    llvm::append_range(target.nodes, source.nodes);
    llvm::append_range(target.parents, source.parents);
    source = Class();
    merged.push_back(into);
    --liveClasses;
  }
  /// Whether `repair` has something to do.
  bool isMerged() const { return !merged.empty(); }
  /// Finds congruent nodes above merged classes and calls `merge(a, b)`, which
  /// must unite their classes, until there are none.
  template <typename Merge> void repair(Merge merge) {
    touched.resize(nodes.size());
    while (!merged.empty()) {
      std::vector<NodeId> pending;
      std::swap(pending, merged);
      for (NodeId &node : pending)
        node = find(node);
      llvm::sort(pending);
      pending.erase(llvm::unique(pending), pending.end());
      for (NodeId node : pending) {
        NodeId representative = find(node);
        touched.set(representative);
        repairParents(representative, merge);
      }
    }
  }
  /// After `repair`: leaves one of each set of congruent nodes in its class.
  void dropCongruent() {
    for (unsigned node : touched.set_bits()) {
      NodeId representative = find(node);
      dropCongruentNodes(representative);
      // Their parents have new forms, and so may be congruent in their classes.
      for (NodeId parent : classes[representative].parents)
        dropCongruentNodes(find(parent));
    }
    touched.clear();
  }

  //===-- Asking ----------------------------------------------------------===//

  /// The class of a node, as the node that represents it.
  NodeId find(NodeId node) const {
    while (representatives[node] != node) {
      representatives[node] = representatives[representatives[node]];
      node = representatives[node];
    }
    return node;
  }
  Class &classOf(NodeId node) { return classes[find(node)]; }
  const Class &classOf(NodeId node) const { return classes[find(node)]; }
  OperatorId operatorOf(NodeId node) const { return nodes[node].op; }
  /// The children that a node was made with.
  llvm::ArrayRef<NodeId> children(NodeId node) const {
    return llvm::ArrayRef(childLists)
        .slice(nodes[node].firstChild, nodes[node].numChildren);
  }
  /// The key of a node: nodes are congruent if their forms are equal.
  Form formOf(OperatorId op, llvm::ArrayRef<NodeId> children) const {
    Form form{op};
    for (NodeId child : children)
      form.push_back(find(child));
    Order()(op, llvm::MutableArrayRef(form).drop_front());
    return form;
  }
  Form formOf(NodeId node) const {
    return formOf(nodes[node].op, children(node));
  }
  /// A node of this form, or noNode. Between a merge and the next rebuild it
  /// may miss one.
  NodeId lookup(OperatorId op, llvm::ArrayRef<NodeId> children) const {
    auto it = byForm.find(formOf(op, children));
    return it == byForm.end() ? noNode : it->second;
  }
  size_t numNodes() const { return nodes.size(); }
  /// The number of nodes in the lists of classes.
  size_t numLiveNodes() const { return liveNodes; }
  size_t numClasses() const { return liveClasses; }

private:
  struct Node {
    OperatorId op;
    unsigned firstChild, numChildren;
  };
  struct FormHash {
    size_t operator()(const Form &form) const {
      return llvm::hash_combine_range(form);
    }
  };

  template <typename Merge>
  void repairParents(NodeId representative, Merge merge) {
    // Merging may append to the list.
    auto parents = llvm::to_vector(classes[representative].parents);
    llvm::SmallVector<NodeId> kept;
    for (NodeId parent : parents) {
      auto [it, isNew] = byForm.try_emplace(formOf(parent), parent);
      if (isNew || it->second == parent)
        kept.push_back(parent);
      else
        merge(it->second, parent);
    }
    // If the class itself was merged meanwhile, it will be visited again.
    if (find(representative) == representative &&
        classes[representative].parents.size() == parents.size())
      classes[representative].parents.assign(kept.begin(), kept.end());
  }

  void dropCongruentNodes(NodeId representative) {
    auto &list = classes[representative].nodes;
    const size_t before = list.size();
    llvm::erase_if(list, [&](NodeId node) {
      auto it = byForm.find(formOf(node));
      return it != byForm.end() && it->second != node;
    });
    liveNodes -= before - list.size();
  }

  std::vector<Node> nodes;
  std::vector<NodeId> childLists;
  /// Parents in the union-find; data of representatives.
  mutable std::vector<NodeId> representatives;
  std::vector<Class> classes;
  std::unordered_map<Form, NodeId, FormHash> byForm;
  /// Classes that `repair` must visit, and those that it has visited.
  std::vector<NodeId> merged;
  llvm::BitVector touched;
  size_t liveNodes = 0, liveClasses = 0;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_CONGRUENCE_H
