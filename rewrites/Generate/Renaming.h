//===- Renaming.h - Which leaves may be exchanged ---------------*- C++ -*-===//
//
// Leaves of one type can be renamed. A graph is enumerated once for all its
// renamings: its value is sampled under every renaming of the leaves, so that a
// renamed graph has the same values at permuted samples.
//
// Sample s gives leaf l the values of leaf s(l). A graph renamed by r has at
// sample s the value that the graph has at sample s * r.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_RENAMING_H
#define MLC_REWRITES_GENERATE_RENAMING_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mlc::generate {

/// The group of renamings: products of permutations within each type. At most
/// 16 elements; element 0 is the identity.
class Renamings {
public:
  /// `classes[l]` is leaf l's type.
  explicit Renamings(llvm::ArrayRef<uint32_t> classes);

  unsigned size() const { return permutations.size(); }
  unsigned apply(unsigned r, unsigned leaf) const {
    return permutations[r][leaf];
  }
  /// First b, then a.
  unsigned multiply(unsigned a, unsigned b) const {
    return table[a * size() + b];
  }
  unsigned inverse(unsigned a) const { return inverses[a]; }

  /// The first element of r * S; S is a set of elements as bits.
  unsigned firstOfCoset(unsigned r, uint16_t s) const;
  /// Whether r is the first element of S * r * T.
  bool isFirstOfDoubleCoset(uint16_t s, unsigned r, uint16_t t) const;

private:
  std::vector<std::vector<uint8_t>> permutations;
  std::vector<uint8_t> table, inverses;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_RENAMING_H
