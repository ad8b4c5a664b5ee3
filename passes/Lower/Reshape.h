//===- Reshape.h - Reinterpretation as collapse and expand ------*- C++ -*-===//

#ifndef MLC_PASSES_LOWER_RESHAPE_H
#define MLC_PASSES_LOWER_RESHAPE_H

#include "passes/Lower/SizeValues.h"

namespace mlc {

/// `value`, a tensor with dims `from`, read in row-major order with dims `to`
/// (equally many elements): tensor.collapse_shape and tensor.expand_shape of
/// the smallest groups of dims that can be shown to agree.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc,
                    SizeValues &sizes, mlir::Value value,
                    llvm::ArrayRef<IntExpr> from, llvm::ArrayRef<IntExpr> to);

} // namespace mlc

#endif // MLC_PASSES_LOWER_RESHAPE_H
