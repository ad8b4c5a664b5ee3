//===- Prune.cpp - From equal pairs to families ---------------------------===//

#include "rewrites/Generate/Prune.h"
#include "rewrites/Generate/Parallel.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

namespace mlc::generate {

/// The pattern with fresh leaves for common operators as long as it holds.
static Pattern generalize(Pattern pattern) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint8_t node : pattern.commonOperators()) {
      Pattern wider = pattern.abstracted(node);
      bool holds = !wider.isTrivial() && wider.agrees(1) && wider.agrees(2) &&
                   wider.agrees(3);
      if (!holds)
        continue;
      pattern = std::move(wider);
      changed = true;
      break;
    }
  }
  return pattern;
}

void Pruner::add(const GraphStore &store, llvm::ArrayRef<EqualPair> pairs) {
  // Texts in parallel, sets in order.
  std::vector<std::optional<Pattern>> patterns(pairs.size());
  std::vector<std::string> texts(pairs.size());
  forEach(pairs.size(), jobs, [&](size_t i, unsigned) {
    if (pairs[i].isConditional())
      return;
    patterns[i].emplace(store, pairs[i]);
    texts[i] = patterns[i]->text(Detail::Variant);
  });
  std::vector<size_t> fresh;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!patterns[i])
      continue;
    ++counts.pairs;
    // One term twice: operands of a commutative operator in another order.
    size_t middle = texts[i].find(" = ");
    bool isSame = texts[i].substr(0, middle) == texts[i].substr(middle + 3);
    if (isSame || !seen.insert(texts[i]).second) {
      patterns[i].reset();
      continue;
    }
    ++counts.renamed;
    counts.withoutCommon += patterns[i]->commonOperators().empty();
    fresh.push_back(i);
  }
  forEach(fresh.size(), jobs, [&](size_t k, unsigned) {
    size_t i = fresh[k];
    patterns[i] = generalize(std::move(*patterns[i]));
    texts[i] = patterns[i]->text(Detail::Variant);
  });
  for (size_t i : fresh)
    general.try_emplace(std::move(texts[i]), std::move(*patterns[i]));
}

std::vector<Family> Pruner::finish() {
  counts.general = general.size();
  std::vector<const std::pair<const std::string, Pattern> *> all;
  for (auto &entry : general)
    all.push_back(&entry);
  // Roots narrow down what can be more general.
  auto rootOf = [](const Pattern &p, uint8_t root) -> const Variant * {
    const TermNode &node = p.getNodes()[root];
    return node.isLeaf() ? nullptr : &p.variantOf(node);
  };
  using Roots = std::pair<const Variant *, const Variant *>;
  std::map<Roots, std::vector<size_t>> byRoots;
  for (auto [i, entry] : llvm::enumerate(all)) {
    const Pattern &p = entry->second;
    Roots roots{rootOf(p, p.getBefore()), rootOf(p, p.getAfter())};
    byRoots[roots].push_back(i);
    if (roots.first != roots.second)
      byRoots[{roots.second, roots.first}].push_back(i);
  }
  std::vector<uint8_t> isInstance(all.size(), false);
  forEach(all.size(), jobs, [&](size_t i, unsigned) {
    const Pattern &p = all[i]->second;
    const Variant *left = rootOf(p, p.getBefore()),
                  *right = rootOf(p, p.getAfter());
    for (Roots roots :
         {Roots{left, right}, Roots{left, nullptr}, Roots{nullptr, right}}) {
      auto it = byRoots.find(roots);
      if (it == byRoots.end())
        continue;
      for (size_t k : it->second)
        if (k != i && !isInstance[i] && all[k]->second.hasInstance(p))
          isInstance[i] = true;
    }
  });
  std::map<std::string, Family> families;
  for (auto [i, entry] : llvm::enumerate(all)) {
    if (isInstance[i])
      continue;
    ++counts.notInstance;
    Family &family = families[entry->second.text(Detail::Operator)];
    family.isLinear |= entry->second.isLinear();
    family.variants.push_back(entry->second);
  }
  std::vector<Family> result;
  for (auto &[text, family] : families) {
    family.text = text;
    llvm::stable_sort(family.variants, [](const Pattern &a, const Pattern &b) {
      return a.isLinear() > b.isLinear();
    });
    counts.linear += family.isLinear;
    result.push_back(std::move(family));
  }
  counts.families = result.size();
  llvm::stable_sort(result, [](const Family &a, const Family &b) {
    auto size = [](const Family &f) {
      const Pattern &p = f.variants[0];
      return p.numOperators(p.getBefore()) + p.numOperators(p.getAfter());
    };
    return size(a) < size(b);
  });
  return result;
}

} // namespace mlc::generate
