//===- Congruence.h - Terms up to equality ----------------------*- C++ -*-===//
//
// What e-graphs have in common, whatever their operators are: e-nodes, each
// form of which is held once (hash-consing), e-classes of equal ones in a
// union-find, and the congruence closure, deferred to `rebuild` and restored
// over the parents of what was merged (Willsey et al., egg, POPL 2021).
//
// An operator is a number. What is known of all nodes of a class is `Data`,
// which whoever merges classes also merges; `Order` brings the children of an
// operator that does not care for their order into one.
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
/// Not ~0u, with which a DenseMap marks what is free.
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

  /// A new node, of no class yet: one of the two that follow is to be called.
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
  /// Says that `node` is what `congruent` is; it stands in no list of nodes.
  void joinClass(NodeId node, NodeId congruent) {
    representatives[node] = find(congruent);
  }
  /// Moves the nodes of a class into another; both are representatives. Data
  /// are the caller's: those of `from` are gone after this.
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
  /// Finds congruent nodes above what was merged and calls `merge(a, b)` with
  /// them, which is to unite their classes; until there are none.
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
  /// Those that a node was made with.
  llvm::ArrayRef<NodeId> children(NodeId node) const {
    return llvm::ArrayRef(childLists)
        .slice(nodes[node].firstChild, nodes[node].numChildren);
  }
  /// What tells nodes apart that are not congruent.
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
  /// A node of this form, or none; between merges and the next rebuild it may
  /// miss one.
  NodeId lookup(OperatorId op, llvm::ArrayRef<NodeId> children) const {
    auto it = byForm.find(formOf(op, children));
    return it == byForm.end() ? noNode : it->second;
  }
  size_t numNodes() const { return nodes.size(); }
  /// Those that stand in lists of classes.
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
    // Where the class itself was merged meanwhile, it will be looked at again.
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
  /// Classes that `repair` has to look at, and that it has.
  std::vector<NodeId> merged;
  llvm::BitVector touched;
  size_t liveNodes = 0, liveClasses = 0;
};

} // namespace mlc::egraph

#endif // MLC_REWRITES_EGRAPH_CONGRUENCE_H
