//===- Instances.h - Which pattern is an instance of another ----*- C++ -*-===//
//
// Indexes patterns by the top of both sides: the root and its operands, each an
// operator or a leaf. A pattern that has another one as an instance is found
// under one of a few keys, made from the other one by replacing operators at
// the top with leaves.
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
  /// Whether a pattern of the index other than `special` has it as an instance.
  /// If two patterns are instances of each other, only the one added first
  /// covers the other. A conditional pattern covers only those that agree in no
  /// more instantiations.
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
