//===- GraphEquality.h - Are two graphs the same? ---------------*- C++ -*-===//
//
// Compares modules as importOnnx makes them, of one context: a file that is to
// say what a graph says. Operators may stand in any order and any number of
// times; a few identities of moving data are seen through, because ONNX writes
// one graph in several ways:
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

/// Where `found` is not `expected`: its inputs, its outputs (names, element
/// types, dims), what they are computed by, or what it assumes at run time;
/// nothing if it is the same.
std::optional<std::string> graphDifference(mlir::ModuleOp expected,
                                           mlir::ModuleOp found);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_GRAPHEQUALITY_H
