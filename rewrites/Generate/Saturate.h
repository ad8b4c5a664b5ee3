//===- Saturate.h - Derivation from known rules -----------------*- C++ -*-===//
//
// A small e-graph (rewrites/EGraph/Congruence.h) over typed terms of one leaf
// set: both sides of a candidate go in, known rules are applied in both
// directions, and the candidate is redundant when its sides meet. The
// derivation is bounded: a rule that is not derived within the bounds stays in
// the basis.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_SATURATE_H
#define MLC_REWRITES_GENERATE_SATURATE_H

#include "rewrites/Generate/Pattern.h"

namespace mlc::generate {

struct SaturateLimits {
  unsigned rounds = 4;
  unsigned nodes = 400;
};

/// Rules by the operator at the root of a side.
class KnownRules {
public:
  void add(const Pattern &pattern);

  struct Side {
    const Pattern *pattern;
    uint8_t from, to;
  };
  llvm::ArrayRef<Side> withRoot(const Variant *root) const;

private:
  std::map<const Variant *, std::vector<Side>> sides;
};

/// Whether the sides of `pattern` are equal by `rules`, whose patterns must
/// outlive it. Not thread-safe because it looks up types in the catalog.
bool follows(const Pattern &pattern, const KnownRules &rules, Catalog &catalog,
             const SaturateLimits &limits = {});

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_SATURATE_H
