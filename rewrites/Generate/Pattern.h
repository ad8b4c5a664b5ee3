//===- Pattern.h - A candidate rule as two terms ----------------*- C++ -*-===//
//
// Both sides of a candidate as one DAG over leaves. Renaming leaves, types and
// the order of commutative operands say nothing of a rule; `text` leaves them
// out, so that equal texts are one rule.
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

/// How much of an operator a text tells.
enum class Detail {
  Variant, // attributes and axes: max_pool_dense
  Operator // the operator alone: max_pool
};

class Pattern {
public:
  /// The larger side is `before`, of sides of one size the one with all leaves
  /// where there is one; operands precede operators.
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
  /// What text(Detail::Variant) calls each leaf: "a", by its node.
  std::map<uint8_t, std::string> leafNames() const;
  unsigned numOperators(uint8_t root) const;
  /// Operators of a side as a term: what is shared counts each time.
  unsigned termSize(uint8_t root) const;
  /// Whether no leaf and no constant occurs twice in the term of a side.
  bool isLinear() const;
  /// Whether both sides are one term.
  bool isTrivial() const { return before == after; }

  /// Operators that both sides hold, larger ones first.
  llvm::SmallVector<uint8_t> commonOperators() const;
  /// With a fresh leaf for an operator that both sides hold.
  Pattern abstracted(uint8_t node) const;

  /// With leaves of their own for occurrences of a leaf, as long as the sides
  /// stay equal: relu(concat(a, a)) = concat(relu(a), relu(a)) says nothing of
  /// one leaf that it does not say of two. Nothing where all must stay.
  std::optional<Pattern> widened() const;

  /// Whether both sides have equal values in every instantiation where both
  /// are defined, for values of the leaves drawn anew from `seed`. Not where
  /// something is divided by 0.
  bool agrees(uint64_t seed) const;
  /// Whether the sides are equal only because leaves are of like magnitude
  /// (min(a, exp(exp(b))) = a) or because none is negative where anything is
  /// defined (abs(a) + sqrt(b) = a + sqrt(b)): in how many instantiations they
  /// stay equal whatever the leaves (none where something is divided by 0).
  /// Nothing where they do in all.
  std::optional<unsigned> coincidence() const;

  /// Whether `other`'s sides are this pattern's with terms for leaves.
  bool hasInstance(const Pattern &other) const;

  /// Whether this pattern may hold wherever `other` does, by the instantiations
  /// in which they were found to.
  bool holdsWherever(const Pattern &other) const {
    return !origin.isConditional() ||
           (other.origin.isConditional() && origin.agree >= other.origin.agree);
  }

  EqualPair origin;

private:
  struct Written {
    std::string text;
    std::map<uint8_t, std::string> leaves; // what it calls them
  };
  Written write(Detail detail) const;

  /// The values of a leaf, by its node and the number of its elements.
  using LeafValues =
      llvm::function_ref<std::vector<Guided>(size_t node, size_t count)>;
  /// Whether the sides are equal in an instantiation; nothing where one is
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
  /// With other names for the occurrences of leaves; equal names, one leaf.
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
