//===- StoredDim.h - The stored dims of a tensor ----------------*- C++ -*-===//
//
// The parts of a `#mlc.layout`; see Layout.h.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_SYMBOLIC_STOREDDIM_H
#define MLC_DIALECTS_SYMBOLIC_STOREDDIM_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace mlc {

/// One stored dim: dim `dim` of the tensor, or the block or lane number of its
/// index.
struct StoredDim {
  enum class Part { Whole, Block, Lane };
  unsigned dim;
  Part part;
  bool operator==(const StoredDim &other) const {
    return dim == other.dim && part == other.part;
  }
  friend llvm::hash_code hash_value(const StoredDim &d) {
    return llvm::hash_combine(d.dim, static_cast<unsigned>(d.part));
  }
};

/// Dim `dim`, which has `size` elements, split into `groups` equal groups, each
/// cut into blocks of `block`, the last one filled up. A dim that is left out
/// has size 1 and no block.
struct DimSplit {
  unsigned dim;
  int64_t size, block = 0, groups = 1;
  int64_t perGroup() const { return size / groups; }
  int64_t blocksPerGroup() const { return (perGroup() + block - 1) / block; }
  int64_t blocks() const { return blocksPerGroup() * groups; }
  bool isFilled() const { return !isLeftOut() && perGroup() % block != 0; }
  bool isLeftOut() const { return block == 0; }
  bool operator==(const DimSplit &other) const {
    return dim == other.dim && size == other.size && block == other.block &&
           groups == other.groups;
  }
  friend llvm::hash_code hash_value(const DimSplit &s) {
    return llvm::hash_combine(s.dim, s.size, s.block, s.groups);
  }
};

} // namespace mlc

#endif // MLC_DIALECTS_SYMBOLIC_STOREDDIM_H
