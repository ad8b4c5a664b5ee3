//===- Instances.cpp - Which pattern is an instance of another ------------===//

#include "rewrites/Generate/Instances.h"
#include "llvm/ADT/STLExtras.h"

using llvm::SmallVector;

namespace mlc::generate {

namespace {

/// One more than the variant's number; 0 for a leaf.
uint64_t symbolOf(const Pattern &pattern, uint8_t n) {
  const TermNode &node = pattern.getNodes()[n];
  return node.isLeaf() ? 0
                       : &pattern.variantOf(node) - allVariants().data() + 1;
}

uint64_t topOf(uint64_t root, uint64_t left, uint64_t right) {
  return root << 32 | left << 16 | right;
}

/// The top of a side; with `isAny`, also every top of a more general side.
SmallVector<uint64_t, 5> topsOf(const Pattern &pattern, uint8_t n, bool isAny) {
  SmallVector<uint64_t, 5> tops;
  const TermNode &node = pattern.getNodes()[n];
  if (isAny || node.isLeaf())
    tops.push_back(0);
  if (node.isLeaf())
    return tops;
  uint64_t own[2] = {0, 0};
  for (auto [i, operand] : llvm::enumerate(node.operands))
    own[i] = symbolOf(pattern, operand);
  for (unsigned leaves = 0; leaves < (isAny ? 4u : 1u); ++leaves) {
    uint64_t left = leaves & 1 ? 0 : own[0], right = leaves & 2 ? 0 : own[1];
    if (pattern.variantOf(node).isCommutative && left > right)
      std::swap(left, right);
    tops.push_back(topOf(symbolOf(pattern, n), left, right));
  }
  llvm::sort(tops);
  tops.erase(llvm::unique(tops), tops.end());
  return tops;
}

std::pair<uint64_t, uint64_t> keyOf(uint64_t a, uint64_t b) {
  return {std::min(a, b), std::max(a, b)};
}

} // namespace

void InstanceIndex::add(const Pattern &pattern) {
  size_t number = numbers.size();
  numbers[&pattern] = number;
  uint64_t before = topsOf(pattern, pattern.getBefore(), false).front(),
           after = topsOf(pattern, pattern.getAfter(), false).front();
  entries[keyOf(before, after)].push_back({&pattern, number});
}

bool InstanceIndex::covers(const Pattern &special) const {
  auto own = numbers.find(&special);
  auto isCovered = [&](const Entry &entry) {
    if (entry.pattern == &special || !entry.pattern->holdsWherever(special) ||
        !entry.pattern->hasInstance(special))
      return false;
    bool isEarlier = own == numbers.end() || entry.number < own->second;
    return isEarlier || !special.holdsWherever(*entry.pattern) ||
           !special.hasInstance(*entry.pattern);
  };
  std::set<std::pair<uint64_t, uint64_t>> keys;
  for (uint64_t before : topsOf(special, special.getBefore(), true))
    for (uint64_t after : topsOf(special, special.getAfter(), true))
      keys.insert(keyOf(before, after));
  return llvm::any_of(keys, [&](const auto &key) {
    auto it = entries.find(key);
    return it != entries.end() && llvm::any_of(it->second, isCovered);
  });
}

} // namespace mlc::generate
