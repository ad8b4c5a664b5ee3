//===- Prune.h - From equal pairs to families -------------------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_PRUNE_H
#define MLC_REWRITES_GENERATE_PRUNE_H

#include "rewrites/Generate/Instances.h"
#include "llvm/ADT/DenseSet.h"

namespace mlc::generate {

/// Rules that differ only in attributes, axes and types.
struct Family {
  std::string text; // with operators alone
  /// Best first: small, then by text.
  std::vector<Pattern> variants;
  bool isLinear = false;
};

/// Families of patterns that are no instances of one another, small ones first.
std::vector<Family> groupIntoFamilies(llvm::ArrayRef<const Pattern *> patterns);

/// The number of pairs or families left after each step.
struct PruneCounts {
  uint64_t pairs = 0;
  uint64_t renamed = 0; // distinct up to names and types
  uint64_t withoutCommon =
      0;                // of these, without an operator on both sides (as TASO)
  uint64_t covered = 0; // of these, instances of pairs of fewer operators
  /// Of the others: equal only for leaves of similar magnitude or sign.
  uint64_t coincidences = 0;
  /// Of the rest, after abstracting common operators where that still holds.
  uint64_t general = 0;
  uint64_t notInstance = 0;
  uint64_t families = 0, linear = 0;
  /// Counts of the pairs that are equal only in some instantiations.
  uint64_t conditionalPairs = 0, conditionalRenamed = 0,
           conditionalFamilies = 0;
  /// Conditional families that follow from others.
  uint64_t conditionalDerived = 0;
};

/// Families of pairs that are equal in all instantiations, and of those that
/// are equal in some and need a condition. No text is in both.
struct Families {
  std::vector<Family> always, conditional;
};

/// Families of the pairs of several leaf sets, by size and text. Pairs are
/// added by size, small ones first: most pairs are instances of smaller ones,
/// and only the others are kept.
class Pruner {
public:
  explicit Pruner(unsigned jobs) : jobs(jobs) {}

  /// Takes pairs of one size.
  void add(const GraphStore &store, llvm::ArrayRef<EqualPair> pairs);
  /// Ends the current size; later pairs are of the next size.
  void closeSize();
  Families finish();
  const PruneCounts &getCounts() const { return counts; }

private:
  void addChunk(const GraphStore &store, llvm::ArrayRef<EqualPair> pairs);
  /// Families of the patterns that are no instances of others.
  std::vector<Family> merge(const std::map<std::string, Pattern> &patterns,
                            uint64_t &notInstance) const;

  unsigned jobs;
  PruneCounts counts;
  llvm::DenseSet<uint64_t> seen; // hashes of texts
  /// By text.
  std::map<std::string, Pattern> general, conditional;
  InstanceIndex smaller; // of closed sizes
  /// The patterns of both maps that have the current size.
  std::vector<const Pattern *> open;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_PRUNE_H
