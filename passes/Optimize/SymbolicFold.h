//===- SymbolicFold.h - Shape arithmetic on integer tensors -----*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_SYMBOLICFOLD_H
#define MLC_PASSES_OPTIMIZE_SYMBOLICFOLD_H

#include "mlir/IR/Block.h"

namespace mlc {

/// Replaces small i64 scalars and vectors that are computed from `int_tensor`s
/// by one `int_tensor` of the resulting expressions, if the definitions can be
/// evaluated on symbolic integers.
void foldSymbolicIntegers(mlir::Block &block);

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_SYMBOLICFOLD_H
