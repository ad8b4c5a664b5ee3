//===- Prune.cpp - From equal pairs to families ---------------------------===//

#include "rewrites/Generate/Prune.h"
#include "rewrites/Support/Parallel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <optional>

namespace mlc::generate {

/// Maximum number of pairs whose patterns are in memory at once.
static constexpr size_t chunkPairs = 1 << 16;

/// Replaces common operators by fresh leaves as long as the pattern holds.
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
  for (size_t first = 0; first < pairs.size(); first += chunkPairs)
    addChunk(store,
             pairs.slice(first, std::min(chunkPairs, pairs.size() - first)));
}

void Pruner::addChunk(const GraphStore &store,
                      llvm::ArrayRef<EqualPair> pairs) {
  // Texts in parallel, sets in order.
  std::vector<std::optional<Pattern>> patterns(pairs.size());
  std::vector<std::string> texts(pairs.size());
  forEach(pairs.size(), jobs, [&](size_t i, unsigned) {
    patterns[i].emplace(store, pairs[i]);
    texts[i] = patterns[i]->text(Detail::Variant);
  });
  std::vector<size_t> fresh;
  for (size_t i = 0; i < pairs.size(); ++i) {
    bool isConditional = pairs[i].isConditional();
    ++(isConditional ? counts.conditionalPairs : counts.pairs);
    // One term twice: operands of a commutative operator in another order.
    size_t middle = texts[i].find(" = ");
    bool isSame = texts[i].substr(0, middle) == texts[i].substr(middle + 3);
    uint64_t hash = llvm::xxh3_64bits(texts[i]) >> 2;
    if (isSame || !seen.insert(hash << 1 | isConditional).second)
      continue;
    ++(isConditional ? counts.conditionalRenamed : counts.renamed);
    if (!isConditional)
      counts.withoutCommon += patterns[i]->commonOperators().empty();
    fresh.push_back(i);
  }
  enum class Fate : uint8_t { Always, Conditional, Covered, Coincidence };
  std::vector<Fate> fates(fresh.size(), Fate::Always);
  forEach(fresh.size(), jobs, [&](size_t k, unsigned) {
    size_t i = fresh[k];
    Pattern &pattern = *patterns[i];
    Fate &fate = fates[k];
    if (pairs[i].isConditional())
      fate = Fate::Conditional;
    if (smaller.covers(pattern))
      fate = Fate::Covered;
    if (fate != Fate::Always)
      return;
    if (std::optional<unsigned> agree = pattern.coincidence()) {
      fate = *agree < minAgreements ? Fate::Coincidence : Fate::Conditional;
      pattern.origin.agree = *agree;
      pattern.origin.compared = pattern.getCatalog().getNumInstantiations();
      return;
    }
    pattern = generalize(std::move(pattern));
    texts[i] = pattern.text(Detail::Variant);
  });
  for (auto [i, fate] : llvm::zip(fresh, fates)) {
    counts.covered += fate == Fate::Covered && !pairs[i].isConditional();
    counts.coincidences += fate == Fate::Coincidence;
    if (fate == Fate::Covered || fate == Fate::Coincidence)
      continue;
    auto [it, isNew] =
        (fate == Fate::Conditional ? conditional : general)
            .try_emplace(std::move(texts[i]), std::move(*patterns[i]));
    if (isNew)
      open.push_back(&it->second);
  }
}

void Pruner::closeSize() {
  for (const Pattern *pattern : open)
    smaller.add(*pattern);
  open.clear();
}

std::vector<Family>
Pruner::merge(const std::map<std::string, Pattern> &patterns,
              uint64_t &notInstance) const {
  std::vector<const Pattern *> all;
  for (const auto &[text, pattern] : patterns)
    all.push_back(&pattern);
  std::vector<uint8_t> isInstance(all.size(), false);
  forEach(all.size(), jobs,
          [&](size_t i, unsigned) { isInstance[i] = smaller.covers(*all[i]); });
  std::vector<const Pattern *> kept;
  for (auto [pattern, covered] : llvm::zip(all, isInstance))
    if (!covered)
      kept.push_back(pattern);
  notInstance += kept.size();
  return groupIntoFamilies(kept);
}

std::vector<Family>
groupIntoFamilies(llvm::ArrayRef<const Pattern *> patterns) {
  std::map<std::string, Family> families;
  for (const Pattern *pattern : patterns) {
    Family &family = families[pattern->text(Detail::Operator)];
    family.isLinear |= pattern->isLinear();
    family.variants.push_back(*pattern);
  }
  std::vector<Family> result;
  for (auto &[text, family] : families) {
    family.text = text;
    llvm::stable_sort(family.variants, [](const Pattern &a, const Pattern &b) {
      return a.isLinear() > b.isLinear();
    });
    result.push_back(std::move(family));
  }
  llvm::stable_sort(result, [](const Family &a, const Family &b) {
    auto size = [](const Family &f) {
      const Pattern &p = f.variants[0];
      return p.numOperators(p.getBefore()) + p.numOperators(p.getAfter());
    };
    return size(a) < size(b);
  });
  return result;
}

Families Pruner::finish() {
  closeSize();
  counts.general = general.size();
  Families result;
  result.always = merge(general, counts.notInstance);
  counts.families = result.always.size();
  std::set<std::string> texts;
  for (const Family &family : result.always) {
    counts.linear += family.isLinear;
    texts.insert(family.text);
  }
  uint64_t notInstance = 0;
  result.conditional = merge(conditional, notInstance);
  // A family that needs no condition for some attributes is not conditional.
  llvm::erase_if(result.conditional, [&](const Family &family) {
    return texts.count(family.text) != 0;
  });
  counts.conditionalFamilies = result.conditional.size();
  return result;
}

} // namespace mlc::generate
