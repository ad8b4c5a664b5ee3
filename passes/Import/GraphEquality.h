//===- GraphEquality.h - Are two graphs the same? ---------------*- C++ -*-===//
//
// Compares modules that importOnnx made, in one context, to check that a file
// holds a given graph. Operators may come in any order and any number of times.
// A few identities of data movement are ignored, because ONNX writes one graph
// in several ways:
//
//   - reshapes of reshapes, of constants, and to the same dims
//   - broadcasts of broadcasts and to the same dims
//   - transposes of transposes and in the same order
//   - casts to the same type
//   - 1x1 convolutions, which are products of matrices over pixels
//   - reals of attributes, which ONNX holds as float32
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_IMPORT_GRAPHEQUALITY_H
#define MLC_PASSES_IMPORT_GRAPHEQUALITY_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace mlc {

/// The first difference of `found` from `expected`: in inputs, outputs (names,
/// element types, dims), their computation, or run-time assumptions; nothing if
/// they are the same.
std::optional<std::string> graphDifference(mlir::ModuleOp expected,
                                           mlir::ModuleOp found);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_GRAPHEQUALITY_H
