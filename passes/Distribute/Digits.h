//===- Digits.h - Indices as numbers of several digits ----------*- C++ -*-===//
//
// The index i * T + j with j < T has the digits i and j, and so has what
// `floordiv` and `mod` make of such numbers: a reshape moves digits from dims
// to dims. The first digit of an index is the one that a split of the dim is a
// split of.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_DIGITS_H
#define MLC_PASSES_DISTRIBUTE_DIGITS_H

#include "dialects/Interfaces/Definition.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::dist {

using Extents = llvm::DenseMap<unsigned, IntExpr>;

/// ((loop floordiv divisor) mod count) * weight.
struct Digit {
  unsigned loop;
  IntExpr divisor, count, weight;
};

/// The digits whose sum the index is, the heaviest first, each heavier than all
/// behind it together can be; nothing where it is no such number.
std::optional<llvm::SmallVector<Digit, 2>> digitsOf(const Expr &index,
                                                    const Extents &extents);

/// What the first digit of an index says of a dim of `size` that it runs over,
/// where that is the beginning of a loop.
struct Leading {
  unsigned loop;
  /// The loop's first `divisor` is one of the digit's, and that is `weight` of
  /// the dim's.
  IntExpr divisor, weight, count;
};
std::optional<Leading> leadingOf(const Expr &index, IntExpr size,
                                 const Extents &extents);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_DIGITS_H
