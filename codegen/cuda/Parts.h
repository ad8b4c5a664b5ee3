//===- Parts.h - Blocks that share a sum ------------------------*- C++ -*-===//
//
// If there are too few sums to fill a GPU, several blocks share each (split-K,
// kernels/parts.cuh). Their number is an expression of the sizes; it depends on
// the target's description, not on the device that runs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_PARTS_H
#define MLC_CODEGEN_CUDA_PARTS_H

#include "codegen/target/Target.h"
#include "dialects/Symbolic/IntExpr.h"

namespace mlc::cuda {

/// How many blocks share each of `sums` sums (or tiles of sums) of `k`
/// terms: at most `most`, each with at least `least` terms. A multiprocessor
/// gets `resident` blocks; two, so that one computes while the other waits.
IntExpr chooseParts(IntExpr sums, IntExpr k, int64_t least, int64_t most,
                    const Target &target, int64_t resident = 2);
int64_t chooseParts(int64_t sums, int64_t k, int64_t least, int64_t most,
                    const Target &target, int64_t resident = 2);

/// The limits for tiles of a contraction whose blocks take `step` elements of K
/// at a time. A part with fewer steps is hardly worth its partial sums, and the
/// last block reads all parts one after another.
inline int64_t leastKOfPart(int64_t step) {
  return std::max<int64_t>(128, 4 * step);
}
constexpr int64_t mostPartsOfTile = 32;

/// Bytes of workspace: counters, and `bytes` for each part of each sum; only
/// counters if no sum is shared.
IntExpr workspaceBytes(IntExpr sums, IntExpr parts, int64_t bytes);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_PARTS_H
