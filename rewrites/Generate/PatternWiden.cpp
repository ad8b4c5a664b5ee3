//===- PatternWiden.cpp - Separate leaves for repeated ones ---------------===//

#include "rewrites/Generate/Pattern.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

namespace mlc::generate {

namespace {

/// Leaves with more occurrences than this, not counting the first, are not
/// separated: the search tries every subset.
constexpr size_t maxOthers = 9;

SmallVector<size_t> positionsOf(ArrayRef<uint8_t> names, uint8_t name) {
  SmallVector<size_t> positions;
  for (auto [i, one] : llvm::enumerate(names))
    if (one == name)
      positions.push_back(i);
  return positions;
}

} // namespace

void Pattern::collectOccurrences(uint8_t root,
                                 SmallVectorImpl<uint8_t> &leaves) const {
  if (nodes[root].isLeaf())
    leaves.push_back(root);
  for (uint8_t operand : nodes[root].operands)
    collectOccurrences(operand, leaves);
}

/// `names` holds the remaining occurrences' names; equal terms become one node.
uint8_t Pattern::copyTerm(
    const Pattern &from, uint8_t node, ArrayRef<uint8_t> &names,
    std::map<std::pair<uint32_t, SmallVector<uint8_t, 2>>, uint8_t> &known) {
  TermNode made = from.nodes[node];
  for (uint8_t &operand : made.operands)
    operand = copyTerm(from, operand, names, known);
  SmallVector<uint8_t, 2> key = made.operands;
  if (made.isLeaf()) {
    key.push_back(names.front());
    names = names.drop_front();
  }
  auto [it, isNew] =
      known.try_emplace({made.application, key}, uint8_t(nodes.size()));
  if (isNew)
    nodes.push_back(std::move(made));
  return it->second;
}

Pattern Pattern::renamed(ArrayRef<uint8_t> beforeNames,
                         ArrayRef<uint8_t> afterNames) const {
  Pattern result;
  result.origin = origin;
  result.catalog = catalog;
  std::map<std::pair<uint32_t, SmallVector<uint8_t, 2>>, uint8_t> known;
  result.before = result.copyTerm(*this, before, beforeNames, known);
  result.after = result.copyTerm(*this, after, afterNames, known);
  result.putLargerFirst();
  return result;
}

/// Renames some occurrences of the leaf `name` to `fresh` such that the sides
/// stay equal; false if that is impossible. The first one keeps its name.
bool Pattern::separate(uint8_t name, uint8_t fresh,
                       SmallVectorImpl<uint8_t> &beforeNames,
                       SmallVectorImpl<uint8_t> &afterNames) const {
  SmallVector<size_t> left = positionsOf(beforeNames, name),
                      right = positionsOf(afterNames, name);
  // A leaf that only `after` has would have no value.
  if (left.size() < 2 || left.size() - 1 + right.size() > maxOthers)
    return false;
  SmallVector<uint8_t> triedLeft(beforeNames.begin(), beforeNames.end()),
      triedRight(afterNames.begin(), afterNames.end());
  size_t lefts = size_t(1) << (left.size() - 1), rights = size_t(1)
                                                          << right.size();
  for (size_t chosen = 1; chosen < lefts; ++chosen)
    for (size_t others = 0; others < rights; ++others) {
      for (size_t i = 1; i < left.size(); ++i)
        triedLeft[left[i]] = chosen >> (i - 1) & 1 ? fresh : name;
      for (size_t i = 0; i < right.size(); ++i)
        triedRight[right[i]] = others >> i & 1 ? fresh : name;
      Pattern wider = renamed(triedLeft, triedRight);
      if (wider.isTrivial() || !wider.agrees(1) || !wider.agrees(2) ||
          !wider.agrees(3))
        continue;
      beforeNames = std::move(triedLeft);
      afterNames = std::move(triedRight);
      return true;
    }
  return false;
}

std::optional<Pattern> Pattern::widened() const {
  SmallVector<uint8_t> beforeNames, afterNames;
  collectOccurrences(before, beforeNames);
  collectOccurrences(after, afterNames);
  const std::set<uint8_t> leaves(beforeNames.begin(), beforeNames.end());
  SmallVector<uint8_t> open(leaves.begin(), leaves.end());
  uint8_t fresh = nodes.size();
  // A separated name may itself cover more than one leaf.
  while (!open.empty()) {
    if (!separate(open.back(), fresh, beforeNames, afterNames))
      open.pop_back();
    else
      open.push_back(fresh++);
  }
  if (fresh == nodes.size())
    return std::nullopt;
  Pattern wider = renamed(beforeNames, afterNames);
  if (wider.coincidence())
    return std::nullopt;
  return wider;
}

} // namespace mlc::generate
