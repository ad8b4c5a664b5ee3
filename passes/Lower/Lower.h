//===- Lower.h - From the graph to linalg on tensors ------------*- C++ -*-===//

#ifndef MLC_PASSES_LOWER_LOWER_H
#define MLC_PASSES_LOWER_LOWER_H

#include "mlir/IR/BuiltinOps.h"

namespace mlc {

/// `mlc-lower-to-linalg`: every function of the module, in place.
///
///   - Operators with a definition become linalg, tensor, arith and math.
///   - Constants become arith.constant; weights stay resources. One of 1 MB or
///     more that repeats one number becomes a linalg.generic of it.
///   - Opaque operators stay, between casts to and from symbolic dims.
///   - Symbolic dims become `?`; symbols become trailing index arguments named
///     by the function's `mlc.symbols`; `mlc.dims` (and `mlc.type` for
///     unsigned integers) of arguments and results keep the types' facts.
///   - Requirements of definitions that only symbols can decide are added to
///     the module as `mlc.check`.
mlir::LogicalResult lowerToLinalg(mlir::ModuleOp module);

} // namespace mlc

#endif // MLC_PASSES_LOWER_LOWER_H
