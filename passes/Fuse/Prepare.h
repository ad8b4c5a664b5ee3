//===- Prepare.h - Linalg made ready for grouping ---------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_PREPARE_H
#define MLC_PASSES_FUSE_PREPARE_H

#include "codegen/kernel/Backend.h"

namespace mlc {

/// Equal ops become one; contractions read through broadcasts and permutations
/// of their operands where the back end lets them, so that those are never
/// materialized; what is not used goes away.
void prepareForFusion(mlir::func::FuncOp function, const Backend &backend);

} // namespace mlc

#endif // MLC_PASSES_FUSE_PREPARE_H
