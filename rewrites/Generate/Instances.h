//===- Instances.h - Which pattern is an instance of another ----*- C++ -*-===//
//
// Patterns by what stands at the top of both sides: the root and its operands,
// each an operator or a leaf. A pattern that has another one as instance is
// found under one of the few keys that arise when operators at the top of the
// other one are taken for leaves.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_INSTANCES_H
#define MLC_REWRITES_GENERATE_INSTANCES_H

#include "rewrites/Generate/Pattern.h"

namespace mlc::generate {

class InstanceIndex {
public:
  /// The pattern must outlive the index.
  void add(const Pattern &pattern);
  /// Whether a pattern of the index has `special` as instance: another one
  /// than `special` itself and, of two that are instances of each other, the
  /// one that was added first. A pattern that holds under a condition covers
  /// only those that agree in no more instantiations than it does.
  bool covers(const Pattern &special) const;

private:
  struct Entry {
    const Pattern *pattern;
    size_t number;
  };
  std::map<std::pair<uint64_t, uint64_t>, std::vector<Entry>> entries;
  llvm::DenseMap<const Pattern *, size_t> numbers;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_INSTANCES_H
