//===- Prepare.h - Linalg made ready for grouping ---------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_PREPARE_H
#define MLC_PASSES_FUSE_PREPARE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// Equal ops become one; contractions read through broadcasts and permutations
/// of their operands, so that those are never materialized; what is not used
/// goes away.
void prepareForFusion(mlir::func::FuncOp function);

} // namespace mlc

#endif // MLC_PASSES_FUSE_PREPARE_H
