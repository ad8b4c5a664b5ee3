//===- Saturate.cpp - What follows from rules that are known --------------===//

#include "rewrites/Generate/Saturate.h"
#include "llvm/ADT/STLExtras.h"

using llvm::SmallVector;

namespace mlc::generate {

void KnownRules::add(const Pattern &pattern) {
  auto addSide = [&](uint8_t from, uint8_t to) {
    const TermNode &root = pattern.getNodes()[from];
    // A bare leaf matches everything: that way no end is reached.
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

using Class = uint32_t;

struct Node {
  uint32_t variant; // or a leaf's number, behind all variants
  SmallVector<Class, 2> children;
  bool operator<(const Node &other) const {
    return std::tie(variant, children) <
           std::tie(other.variant, other.children);
  }
};

class TermGraph {
public:
  TermGraph(Catalog &catalog, const SaturateLimits &limits)
      : catalog(catalog), limits(limits) {}

  Class find(Class c) const {
    while (parent[c] != c)
      c = parent[c];
    return c;
  }
  bool isFull() const { return known.size() >= limits.nodes; }

  Class addLeaf(uint32_t number, uint32_t type) {
    return intern({static_cast<uint32_t>(allVariants().size()) + number, {}},
                  type);
  }
  /// Nothing where the types do not fit.
  std::optional<Class> add(uint32_t variant, llvm::ArrayRef<Class> children) {
    Node node{variant, {}};
    SmallVector<uint32_t, 2> operandTypes;
    for (Class child : children) {
      node.children.push_back(find(child));
      operandTypes.push_back(types[find(child)]);
    }
    if (allVariants()[variant].isCommutative)
      llvm::sort(node.children);
    std::optional<uint32_t> application = catalog.apply(variant, operandTypes);
    if (!application)
      return std::nullopt;
    return intern(node, catalog.application(*application).type);
  }
  std::optional<Class> addTerm(const Pattern &pattern, uint8_t n,
                               std::map<uint8_t, Class> &bound) {
    if (auto it = bound.find(n); it != bound.end())
      return find(it->second);
    const TermNode &node = pattern.getNodes()[n];
    if (node.isLeaf())
      return std::nullopt; // nothing on the matched side says what it is
    SmallVector<Class, 2> children;
    for (uint8_t operand : node.operands) {
      std::optional<Class> child = addTerm(pattern, operand, bound);
      if (!child)
        return std::nullopt;
      children.push_back(*child);
    }
    return add(variantOf(pattern, node), children);
  }

  void merge(Class a, Class b) {
    a = find(a);
    b = find(b);
    if (a == b || types[a] != types[b])
      return;
    parent[std::max(a, b)] = std::min(a, b);
    changed = true;
  }

  /// Makes equal nodes of equal children one.
  void rebuild() {
    for (bool again = true; again;) {
      again = false;
      std::map<Node, Class> next;
      for (auto &[node, c] : known) {
        Node fresh{node.variant, {}};
        for (Class child : node.children)
          fresh.children.push_back(find(child));
        if (fresh.variant < allVariants().size() &&
            allVariants()[fresh.variant].isCommutative)
          llvm::sort(fresh.children);
        auto [it, isNew] = next.try_emplace(fresh, find(c));
        if (!isNew && find(it->second) != find(c)) {
          merge(it->second, c);
          again = true;
        }
      }
      known = std::move(next);
    }
  }

  /// Applies every rule everywhere once.
  void applyAll(const KnownRules &rules) {
    changed = false;
    std::vector<std::pair<Node, Class>> nodes(known.begin(), known.end());
    byClass.clear();
    for (const auto &[node, c] : nodes)
      byClass[find(c)].push_back(node);
    for (const auto &[node, c] : nodes) {
      if (node.variant >= allVariants().size())
        continue;
      for (const KnownRules::Side &side :
           rules.withRoot(&allVariants()[node.variant])) {
        if (isFull())
          break;
        std::vector<std::map<uint8_t, Class>> matches;
        matchNode(*side.pattern, side.from, node, {}, matches);
        for (std::map<uint8_t, Class> &match : matches)
          if (std::optional<Class> other =
                  addTerm(*side.pattern, side.to, match))
            merge(c, *other);
      }
    }
    rebuild();
  }
  bool hasChanged() const { return changed; }

private:
  using Bound = std::map<uint8_t, Class>;

  static uint32_t variantOf(const Pattern &pattern, const TermNode &node) {
    return &pattern.variantOf(node) - allVariants().data();
  }

  Class intern(const Node &node, uint32_t type) {
    auto [it, isNew] = known.try_emplace(node, parent.size());
    if (isNew) {
      parent.push_back(parent.size());
      types.push_back(type);
      changed = true;
    }
    return find(it->second);
  }

  /// Extends `bound` by every way in which term `n` is in class `c`.
  void matchClass(const Pattern &pattern, uint8_t n, Class c,
                  const Bound &bound, std::vector<Bound> &out) {
    c = find(c);
    if (auto it = bound.find(n); it != bound.end()) {
      if (find(it->second) == c)
        out.push_back(bound);
      return;
    }
    if (pattern.getNodes()[n].isLeaf()) {
      out.push_back(bound);
      out.back()[n] = c;
      return;
    }
    auto it = byClass.find(c);
    if (it == byClass.end())
      return;
    for (const Node &node : it->second) {
      size_t first = out.size();
      matchNode(pattern, n, node, bound, out);
      for (size_t i = first; i < out.size(); ++i)
        out[i][n] = c;
    }
  }

  void matchNode(const Pattern &pattern, uint8_t n, const Node &node,
                 const Bound &bound, std::vector<Bound> &out) {
    const TermNode &term = pattern.getNodes()[n];
    if (variantOf(pattern, term) != node.variant || out.size() > maxMatches)
      return;
    bool isCommutative = allVariants()[node.variant].isCommutative;
    for (bool isSwapped : {false, true}) {
      if (isSwapped && !isCommutative)
        break;
      std::vector<Bound> partial{bound};
      for (size_t k = 0; k < term.operands.size(); ++k) {
        std::vector<Bound> next;
        Class child = node.children[isSwapped ? 1 - k : k];
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
  std::vector<Class> parent;
  std::vector<uint32_t> types;
  std::map<Node, Class> known;
  std::map<Class, std::vector<Node>> byClass;
  bool changed = false;
};

} // namespace

bool follows(const Pattern &pattern, const KnownRules &rules, Catalog &catalog,
             const SaturateLimits &limits) {
  TermGraph graph(catalog, limits);
  std::map<uint8_t, Class> bound;
  for (auto [n, node] : llvm::enumerate(pattern.getNodes()))
    if (node.isLeaf())
      bound[n] = graph.addLeaf(n, node.type);
  std::optional<Class> before =
                           graph.addTerm(pattern, pattern.getBefore(), bound),
                       after =
                           graph.addTerm(pattern, pattern.getAfter(), bound);
  if (!before || !after)
    return false;
  for (unsigned round = 0; round < limits.rounds; ++round) {
    graph.applyAll(rules);
    if (graph.find(*before) == graph.find(*after))
      return true;
    if (!graph.hasChanged() || graph.isFull())
      return false;
  }
  return false;
}

} // namespace mlc::generate
