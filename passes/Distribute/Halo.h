//===- Halo.h - Indices that reach beside a part ----------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_HALO_H
#define MLC_PASSES_DISTRIBUTE_HALO_H

#include "passes/Distribute/MixedRadix.h"

namespace mlc::dist {

/// An index s * i + (constants times other loops) + constant, into a dim with s
/// times as many elements as the loop i has. If i runs over a part of its
/// range, the index runs over s times that part and a halo.
struct Window {
  unsigned loop;
  int64_t stride;
  /// The width of the halo.
  int64_t low, high;
};

/// The window of an index into a dim of `size` elements, along a loop that
/// `isCarrier` accepts; nothing if there is none, or if its reach is not
/// constant.
std::optional<Window> windowOf(const Expr &index, IntExpr size,
                               const Extents &extents,
                               llvm::function_ref<bool(unsigned)> isCarrier);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_HALO_H
