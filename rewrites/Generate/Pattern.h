//===- Pattern.h - A candidate rule as two terms ----------------*- C++ -*-===//
//
// Both sides of a candidate as one DAG over leaves. Names of leaves, types and
// the order of commutative operands do not distinguish rules; `text` omits
// them, so that equal texts are one rule.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_PATTERN_H
#define MLC_REWRITES_GENERATE_PATTERN_H

#include "rewrites/Generate/Enumerate.h"
#include <map>

namespace mlc::generate {

struct TermNode {
  uint32_t application = Graph::none; // none: a leaf
  uint32_t type = 0;
  llvm::SmallVector<uint8_t, 2> operands;
  bool isLeaf() const { return application == Graph::none; }
};

/// How much detail of an operator a text has.
enum class Detail {
  Variant, // attributes and axes: max_pool_dense
  Operator // the operator alone: max_pool
};

class Pattern {
public:
  /// The larger side is `before`; if sizes are equal, a side with all leaves
  /// is. Operands precede operators.
  Pattern(const GraphStore &store, const EqualPair &pair);

  const Catalog &getCatalog() const { return *catalog; }
  llvm::ArrayRef<TermNode> getNodes() const { return nodes; }
  uint8_t getBefore() const { return before; }
  uint8_t getAfter() const { return after; }
  const Variant &variantOf(const TermNode &node) const {
    return allVariants()[catalog->application(node.application).variant];
  }

  /// `relu(concat(a, b)) = concat(relu(a), relu(b))`; equal for equal rules.
  std::string text(Detail detail) const;
  /// The name of each leaf's node in text(Detail::Variant): "a".
  std::map<uint8_t, std::string> leafNames() const;
  unsigned numOperators(uint8_t root) const;
  /// Operators of a side as a term: shared terms count each time.
  unsigned termSize(uint8_t root) const;
  /// Whether no leaf and no constant occurs twice in the term of a side.
  bool isLinear() const;
  /// Whether both sides are one term.
  bool isTrivial() const { return before == after; }

  /// Operators that both sides contain, larger ones first.
  llvm::SmallVector<uint8_t> commonOperators() const;
  /// The pattern with a fresh leaf instead of an operator that both sides
  /// contain.
  Pattern abstracted(uint8_t node) const;

  /// The pattern with separate leaves for occurrences of one leaf, as long as
  /// the sides stay equal: relu(concat(a, a)) = concat(relu(a), relu(a)) also
  /// holds for two leaves. nullopt if all occurrences must be one leaf.
  std::optional<Pattern> widened() const;

  /// Whether both sides have equal values in every instantiation where both are
  /// defined, for fresh values of the leaves drawn from `seed`. Skips divisions
  /// by 0.
  bool agrees(uint64_t seed) const;
  /// Detects sides that are equal only because leaves have similar magnitude
  /// (min(a, exp(exp(b))) = a) or because no leaf is negative where both are
  /// defined (abs(a) + sqrt(b) = a + sqrt(b)). Returns in how many
  /// instantiations they are equal for all leaf values (not counting divisions
  /// by 0); nullopt if in all.
  std::optional<unsigned> coincidence() const;

  /// Whether `other`'s sides are this pattern's with terms substituted for
  /// leaves.
  bool hasInstance(const Pattern &other) const;

  /// Whether this pattern may hold wherever `other` does, judged by the number
  /// of instantiations in which they agree.
  bool holdsWherever(const Pattern &other) const {
    return !origin.isConditional() ||
           (other.origin.isConditional() && origin.agree >= other.origin.agree);
  }

  EqualPair origin;

private:
  struct Written {
    std::string text;
    std::map<uint8_t, std::string> leaves; // their names in it
  };
  Written write(Detail detail) const;

  /// The values of a leaf, by its node and the number of its elements.
  using LeafValues =
      llvm::function_ref<std::vector<Guided>(size_t node, size_t count)>;
  /// Whether the sides are equal in an instantiation; nullopt if one is
  /// undefined.
  std::optional<bool> areEqual(unsigned instantiation,
                               LeafValues leafValues) const;

  Pattern() = default;
  void putLargerFirst();
  uint8_t add(const GraphStore &store, Renamed renamed,
              std::map<Renamed, uint8_t> &known);
  uint8_t copy(const Pattern &from, uint8_t node, uint8_t abstracted,
               std::map<uint8_t, uint8_t> &known);
  uint8_t
  copyTerm(const Pattern &from, uint8_t node, llvm::ArrayRef<uint8_t> &names,
           std::map<std::pair<uint32_t, llvm::SmallVector<uint8_t, 2>>, uint8_t>
               &known);
  /// The leaves of a side's term, from left to right.
  void collectOccurrences(uint8_t root,
                          llvm::SmallVectorImpl<uint8_t> &leaves) const;
  /// The pattern with new names for occurrences of leaves; equal names are one
  /// leaf.
  Pattern renamed(llvm::ArrayRef<uint8_t> beforeNames,
                  llvm::ArrayRef<uint8_t> afterNames) const;
  bool separate(uint8_t name, uint8_t fresh,
                llvm::SmallVectorImpl<uint8_t> &beforeNames,
                llvm::SmallVectorImpl<uint8_t> &afterNames) const;
  void collect(uint8_t root, llvm::SmallVectorImpl<bool> &seen) const;
  bool hasLeavesOf(uint8_t root, uint8_t other) const;
  bool isLinear(uint8_t root, std::set<uint8_t> &leaves,
                std::set<uint32_t> &constants) const;
  std::vector<std::string> shapes(Detail detail) const;

  const Catalog *catalog = nullptr;
  llvm::SmallVector<TermNode, 10> nodes;
  uint8_t before = 0, after = 0;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_PATTERN_H
