//===- Prune.h - From equal pairs to families -------------------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_PRUNE_H
#define MLC_REWRITES_GENERATE_PRUNE_H

#include "rewrites/Generate/Pattern.h"

namespace mlc::generate {

/// Rules that differ in attributes, axes and types only.
struct Family {
  std::string text; // with operators alone
  /// Best first: small, then by text.
  std::vector<Pattern> variants;
  bool isLinear = false;
};

/// What each step leaves.
struct PruneCounts {
  uint64_t pairs = 0;
  uint64_t renamed = 0;       // different up to names and types
  uint64_t withoutCommon = 0; // of these, no operator on both sides: TASO's
  uint64_t general = 0; // common operators abstracted where that still holds
  uint64_t notInstance = 0;
  uint64_t families = 0, linear = 0;
};

/// Families of the unconditional pairs of several worlds, by text.
class Pruner {
public:
  explicit Pruner(unsigned jobs) : jobs(jobs) {}

  void add(const GraphStore &store, llvm::ArrayRef<EqualPair> pairs);
  std::vector<Family> finish();
  const PruneCounts &getCounts() const { return counts; }

private:
  unsigned jobs;
  PruneCounts counts;
  std::set<std::string> seen;
  std::map<std::string, Pattern> general; // by text
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_PRUNE_H
