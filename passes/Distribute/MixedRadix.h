//===- MixedRadix.h - Indices as numbers of several digits ------*- C++ -*-===//
//
// The index i * T + j with j < T has the digits i and j (mixed radix), and
// `floordiv` and `mod` of such numbers have digits, too: a reshape moves digits
// between dims. A split of a dim splits the first digit of its index.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_MIXEDRADIX_H
#define MLC_PASSES_DISTRIBUTE_MIXEDRADIX_H

#include "dialects/Definition/Definition.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::dist {

using Extents = llvm::DenseMap<unsigned, IntExpr>;

/// ((loop floordiv divisor) mod count) * weight.
struct Digit {
  unsigned loop;
  IntExpr divisor, count, weight;
};

/// The digits whose sum is the index, the heaviest first. Each is heavier than
/// the sum of all later ones can be. Nothing if the index is not such a number.
std::optional<llvm::SmallVector<Digit, 2>> digitsOf(const Expr &index,
                                                    const Extents &extents);

/// How the first digit of an index splits a dim of `size` that it runs over, if
/// that digit is the leading one of a loop.
struct Leading {
  unsigned loop;
  /// `divisor` steps of the loop are one step of the digit, which is `weight`
  /// steps of the dim.
  IntExpr divisor, weight, count;
};
std::optional<Leading> leadingOf(const Expr &index, IntExpr size,
                                 const Extents &extents);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_MIXEDRADIX_H
