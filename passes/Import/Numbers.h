//===- Numbers.h - Exact numbers of shape arithmetic ------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_NUMBERS_H
#define MLC_PASSES_IMPORT_NUMBERS_H

#include "passes/Import/Node.h"

namespace mlc {

using MaybeNumber = std::optional<Number>;
using Numbers = llvm::SmallVector<Number>;

/// Float tensors with more elements than this are never tracked.
constexpr int64_t maxFloats = 64;

/// numerator / denominator in lowest terms; nothing when that is 0.
MaybeNumber fraction(IntExpr numerator, int64_t denominator);

/// Whether a result of float arithmetic is exact in float32 too.
bool isExact(const Number &number);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_NUMBERS_H
