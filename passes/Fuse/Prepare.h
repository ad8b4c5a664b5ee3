//===- Prepare.h - Linalg made ready for grouping ---------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_PREPARE_H
#define MLC_PASSES_FUSE_PREPARE_H

#include "codegen/kernel/Backend.h"

namespace mlc {

/// Merges equal ops, makes contractions read through broadcasts and
/// permutations of their operands if the back end allows it, so that those are
/// never materialized, and removes dead ops.
void prepareForFusion(mlir::func::FuncOp function, const Backend &backend);

} // namespace mlc

#endif // MLC_PASSES_FUSE_PREPARE_H
