//===- Parts.h - Blocks that share a sum ------------------------*- C++ -*-===//
//
// Where there are fewer sums than a GPU has room for, several blocks share one
// (kernels/parts.cuh). How many they are is an expression of the sizes: it
// depends on the target's description, not on the device that runs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_PARTS_H
#define MLC_CODEGEN_CUDA_PARTS_H

#include "codegen/target/Target.h"
#include "dialects/Interfaces/IntExpr.h"

namespace mlc::cuda {

/// How many blocks, at most `most`, share each of `sums` sums (or tiles of
/// them) of `depth` places, at least `least` of which are worth a block.
IntExpr chooseParts(IntExpr sums, IntExpr depth, int64_t least, int64_t most,
                    const Target &target);

/// Bytes of joint memory: counters, and `bytes` for each part of each sum;
/// counters alone where nothing is shared.
IntExpr jointBytes(IntExpr sums, IntExpr parts, int64_t bytes);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_PARTS_H
