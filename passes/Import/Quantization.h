//===- Quantization.h - ONNX's quantized numbers ----------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_QUANTIZATION_H
#define MLC_PASSES_IMPORT_QUANTIZATION_H

#include "passes/Import/Node.h"

namespace mlc {

mlir::LogicalResult importQuantizeLinear(Node &n);
mlir::LogicalResult importDequantizeLinear(Node &n);
mlir::LogicalResult importDynamicQuantizeLinear(Node &n);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_QUANTIZATION_H
