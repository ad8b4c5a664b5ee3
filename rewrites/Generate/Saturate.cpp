//===- Saturate.cpp - Derivation from known rules -------------------------===//

#include "rewrites/Generate/Saturate.h"
#include "rewrites/EGraph/Congruence.h"
#include "llvm/ADT/DenseMap.h"

using llvm::SmallVector;

namespace mlc::generate {

void KnownRules::add(const Pattern &pattern) {
  auto addSide = [&](uint8_t from, uint8_t to) {
    const TermNode &root = pattern.getNodes()[from];
    // A bare leaf matches everything, so saturation would not end.
    if (!root.isLeaf())
      sides[&pattern.variantOf(root)].push_back({&pattern, from, to});
  };
  addSide(pattern.getBefore(), pattern.getAfter());
  addSide(pattern.getAfter(), pattern.getBefore());
}

llvm::ArrayRef<KnownRules::Side>
KnownRules::withRoot(const Variant *root) const {
  auto it = sides.find(root);
  if (it == sides.end())
    return {};
  return it->second;
}

namespace {

using egraph::NodeId, egraph::noNode, egraph::OperatorId;

struct ClassType {
  uint32_t type = 0;
};

/// Operator numbers are variants first, then leaves.
const Variant *variantAt(OperatorId op) {
  return op < allVariants().size() ? &allVariants()[op] : nullptr;
}

struct VariantOrder {
  void operator()(OperatorId op, llvm::MutableArrayRef<NodeId> children) const {
    if (const Variant *variant = variantAt(op);
        variant && variant->isCommutative)
      llvm::sort(children);
  }
};

using Terms = egraph::Congruence<ClassType, VariantOrder>;

class TermGraph {
public:
  TermGraph(Catalog &catalog, const SaturateLimits &limits)
      : catalog(catalog), limits(limits) {}

  /// For nodes of a pattern: their classes, or noNode.
  using Bound = SmallVector<NodeId, 12>;

  bool areEqual(NodeId a, NodeId b) const {
    return terms.find(a) == terms.find(b);
  }
  bool isFull() const { return terms.numLiveNodes() >= limits.nodes; }

  NodeId addLeaf(uint32_t number, uint32_t type) {
    return intern(static_cast<OperatorId>(allVariants().size()) + number, {},
                  type);
  }
  /// Adds the unbound operators of a side. Returns noNode if types do not fit
  /// or a leaf is unbound because the matched side does not have it.
  NodeId addTerm(const Pattern &pattern, uint8_t n, const Bound &bound) {
    if (bound[n] != noNode)
      return terms.find(bound[n]);
    const TermNode &node = pattern.getNodes()[n];
    if (node.isLeaf())
      return noNode;
    SmallVector<NodeId, 2> children;
    SmallVector<uint32_t, 2> operandTypes;
    for (uint8_t operand : node.operands) {
      NodeId child = addTerm(pattern, operand, bound);
      if (child == noNode)
        return noNode;
      children.push_back(child);
      operandTypes.push_back(terms.classOf(child).type);
    }
    OperatorId op = operatorOf(pattern, node);
    std::optional<uint32_t> application = catalog.apply(op, operandTypes);
    if (!application)
      return noNode;
    return intern(op, children, catalog.application(*application).type);
  }

  /// Applies every rule everywhere once.
  void applyAll(const KnownRules &rules) {
    changed = false;
    readENodes();
    for (const ENode &node : enodes) {
      const Variant *variant = variantAt(node.form[0]);
      if (!variant)
        continue;
      for (const KnownRules::Side &side : rules.withRoot(variant)) {
        if (isFull())
          break;
        std::vector<Bound> matches;
        matchNode(*side.pattern, side.from, node,
                  Bound(side.pattern->getNodes().size(), noNode), matches);
        for (const Bound &match : matches)
          if (NodeId other = addTerm(*side.pattern, side.to, match);
              other != noNode)
            merge(node.eclass, other);
      }
    }
    terms.repair([&](NodeId a, NodeId b) { merge(a, b); });
    terms.dropCongruent();
  }
  bool hasChanged() const { return changed; }

private:
  /// A node as it was when the round began.
  struct ENode {
    Terms::Form form;
    NodeId eclass;
  };

  static OperatorId operatorOf(const Pattern &pattern, const TermNode &node) {
    return &pattern.variantOf(node) - allVariants().data();
  }

  NodeId intern(OperatorId op, llvm::ArrayRef<NodeId> children, uint32_t type) {
    if (NodeId known = terms.lookup(op, children); known != noNode)
      return terms.find(known);
    NodeId node = terms.append(op, children);
    terms.makeClass(node, {type});
    changed = true;
    return node;
  }

  void merge(NodeId a, NodeId b) {
    a = terms.find(a);
    b = terms.find(b);
    if (a == b || terms.classOf(a).type != terms.classOf(b).type)
      return;
    // The older class stays, so the result does not depend on the order of
    // rules.
    terms.unite(std::min(a, b), std::max(a, b));
    changed = true;
  }

  /// Sorts nodes by operator, then children, because the graph's own order
  /// depends on merges.
  void readENodes() {
    enodes.clear();
    byClass.clear();
    for (NodeId node = 0; node < terms.numNodes(); ++node)
      if (terms.find(node) == node)
        for (NodeId member : terms.classOf(node).nodes)
          enodes.push_back({terms.formOf(member), node});
    llvm::sort(enodes,
               [](const ENode &a, const ENode &b) { return a.form < b.form; });
    for (auto [i, node] : llvm::enumerate(enodes))
      byClass[node.eclass].push_back(i);
  }

  /// Extends `bound` by every way in which term `n` is in class `eclass`.
  void matchClass(const Pattern &pattern, uint8_t n, NodeId eclass,
                  const Bound &bound, std::vector<Bound> &out) {
    eclass = terms.find(eclass);
    if (bound[n] != noNode) {
      if (areEqual(bound[n], eclass))
        out.push_back(bound);
      return;
    }
    if (pattern.getNodes()[n].isLeaf()) {
      out.push_back(bound);
      out.back()[n] = eclass;
      return;
    }
    auto it = byClass.find(eclass);
    if (it == byClass.end())
      return;
    for (unsigned node : it->second) {
      size_t first = out.size();
      matchNode(pattern, n, enodes[node], bound, out);
      for (size_t i = first; i < out.size(); ++i)
        out[i][n] = eclass;
    }
  }

  void matchNode(const Pattern &pattern, uint8_t n, const ENode &node,
                 const Bound &bound, std::vector<Bound> &out) {
    const TermNode &term = pattern.getNodes()[n];
    if (operatorOf(pattern, term) != node.form[0] || out.size() > maxMatches)
      return;
    llvm::ArrayRef<NodeId> children = llvm::ArrayRef(node.form).drop_front();
    bool isCommutative = variantAt(node.form[0])->isCommutative;
    for (bool isSwapped : {false, true}) {
      if (isSwapped && !isCommutative)
        break;
      std::vector<Bound> partial{bound};
      for (size_t k = 0; k < term.operands.size(); ++k) {
        std::vector<Bound> next;
        NodeId child = children[isSwapped ? 1 - k : k];
        for (const Bound &one : partial)
          matchClass(pattern, term.operands[k], child, one, next);
        partial = std::move(next);
      }
      llvm::append_range(out, partial);
    }
  }

  static constexpr size_t maxMatches = 64;

  Catalog &catalog;
  const SaturateLimits &limits;
  Terms terms;
  std::vector<ENode> enodes;
  llvm::DenseMap<NodeId, SmallVector<unsigned, 4>> byClass;
  bool changed = false;
};

} // namespace

bool follows(const Pattern &pattern, const KnownRules &rules, Catalog &catalog,
             const SaturateLimits &limits) {
  TermGraph graph(catalog, limits);
  TermGraph::Bound bound(pattern.getNodes().size(), noNode);
  for (auto [n, node] : llvm::enumerate(pattern.getNodes()))
    if (node.isLeaf())
      bound[n] = graph.addLeaf(n, node.type);
  NodeId before = graph.addTerm(pattern, pattern.getBefore(), bound),
         after = graph.addTerm(pattern, pattern.getAfter(), bound);
  if (before == noNode || after == noNode)
    return false;
  for (unsigned round = 0; round < limits.rounds; ++round) {
    graph.applyAll(rules);
    if (graph.areEqual(before, after))
      return true;
    if (!graph.hasChanged() || graph.isFull())
      return false;
  }
  return false;
}

} // namespace mlc::generate
