//===- Prune.h - From equal pairs to families -------------------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_PRUNE_H
#define MLC_REWRITES_GENERATE_PRUNE_H

#include "rewrites/Generate/Instances.h"
#include "llvm/ADT/DenseSet.h"

namespace mlc::generate {

/// Rules that differ in attributes, axes and types only.
struct Family {
  std::string text; // with operators alone
  /// Best first: small, then by text.
  std::vector<Pattern> variants;
  bool isLinear = false;
};

/// Families of patterns that are no instances of one another, small ones first.
std::vector<Family> groupIntoFamilies(llvm::ArrayRef<const Pattern *> patterns);

/// What each step leaves.
struct PruneCounts {
  uint64_t pairs = 0;
  uint64_t renamed = 0;       // different up to names and types
  uint64_t withoutCommon = 0; // of these, no operator on both sides: TASO's
  uint64_t covered = 0;       // of these, instances of pairs of fewer operators
  /// Of the others: equal only for leaves of like magnitude or sign.
  uint64_t coincidences = 0;
  /// Of the rest: common operators abstracted where that still holds.
  uint64_t general = 0;
  uint64_t notInstance = 0;
  uint64_t families = 0, linear = 0;
  /// Of the pairs that are equal in some instantiations only.
  uint64_t conditionalPairs = 0, conditionalRenamed = 0,
           conditionalFamilies = 0;
  /// Of the families: they follow from others.
  uint64_t conditionalDerived = 0;
};

/// Families of pairs that are equal in all instantiations, and of those that
/// are in some, which need a condition. No text is in both.
struct Families {
  std::vector<Family> always, conditional;
};

/// Families of the pairs of several leaf sets, by size and text. Pairs come by
/// size, small ones first: most of those of a size are instances of smaller
/// ones, and only the others are kept.
class Pruner {
public:
  explicit Pruner(unsigned jobs) : jobs(jobs) {}

  /// Takes pairs of one size.
  void add(const GraphStore &store, llvm::ArrayRef<EqualPair> pairs);
  /// What comes now is of the next size.
  void closeSize();
  Families finish();
  const PruneCounts &getCounts() const { return counts; }

private:
  void addChunk(const GraphStore &store, llvm::ArrayRef<EqualPair> pairs);
  /// Families of what is no instance of another pattern.
  std::vector<Family> merge(const std::map<std::string, Pattern> &patterns,
                            uint64_t &notInstance) const;

  unsigned jobs;
  PruneCounts counts;
  llvm::DenseSet<uint64_t> seen; // hashes of texts
  /// By text.
  std::map<std::string, Pattern> general, conditional;
  InstanceIndex smaller; // of the sizes that are closed
  /// Of both, what is of the size that is open.
  std::vector<const Pattern *> open;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_PRUNE_H
