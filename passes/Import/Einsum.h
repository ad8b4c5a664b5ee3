//===- Einsum.h - ONNX's Einsum ---------------------------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_EINSUM_H
#define MLC_PASSES_IMPORT_EINSUM_H

#include "passes/Import/Node.h"

namespace mlc {

/// numpy's matmul; reports operands that do not fit.
mlir::Value importedMatmul(Node &n, mlir::Value a, mlir::Value b);

mlir::LogicalResult importEinsum(Node &n);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_EINSUM_H
