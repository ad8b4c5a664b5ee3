//===- Dims.h - Dims of a value ---------------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_DIMS_H
#define MLC_PASSES_DIFFERENTIATE_DIMS_H

#include "dialects/Symbolic/Attributes.h"

namespace mlc {

/// The dims of a tensor that has them.
inline llvm::SmallVector<IntExpr> dimsOf(mlir::Value value) {
  return *getDims(mlir::cast<mlir::RankedTensorType>(value.getType()));
}

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_DIMS_H
