//===- Windows.h - Indices that reach beside a part -------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_WINDOWS_H
#define MLC_PASSES_DISTRIBUTE_WINDOWS_H

#include "passes/Distribute/Digits.h"

namespace mlc::dist {

/// An index s * i + (constants times other loops) + constant of a dim of s
/// times as many elements as the loop i has: where i runs over a part of its
/// numbers, the index runs over s times that part and a little beside it.
struct Window {
  unsigned loop;
  int64_t stride;
  /// How far beside.
  int64_t low, high;
};

/// The window that an index over a dim of `size` elements is, along a loop that
/// `isCarrier` takes; nothing where it is none, or how far it reaches is not
/// constant.
std::optional<Window> windowOf(const Expr &index, IntExpr size,
                               const Extents &extents,
                               llvm::function_ref<bool(unsigned)> isCarrier);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_WINDOWS_H
