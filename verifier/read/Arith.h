//===- Arith.h - Operations of arith and math -------------------*- C++ -*-===//
//
// Upstream's integers are signless: operations decide how to read them. In an
// `Expr` the type decides, so unsigned operations are computed on `ui<n>` and
// converted back. As a signed number, the i1 `true` is -1. The reader rejects
// flags that add poison (nsw, exact, fast-math), operations on bits (bitcast),
// and operations that no Expr states exactly (shifts by a variable).
//
// A division that overflows is undefined like one by zero, so it is read with
// divisor 0.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_ARITH_H
#define MLC_VERIFIER_READ_ARITH_H

#include "dialects/Definition/Definition.h"
#include "mlir/IR/Operation.h"

namespace mlc::verifier {

/// Whether this element type is supported: floats of 16, 32 and 64 bits,
/// signless integers of 1, 8, 16, 32 and 64 bits, index.
bool isScalarType(mlir::Type type);

/// Whether attributes of an operation restrict its operands or change its
/// rounding.
bool hasPromises(mlir::Operation *op);

/// The number in an attribute, as an element.
Expr numberOf(mlir::Type type, mlir::Attribute value);

/// The result of an arith or math operation with one result as an expression of
/// its operands; null if it is not known exactly.
Expr elementOf(mlir::Operation *op, llvm::ArrayRef<Expr> operands);

// Parts of it.
Expr integerElement(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
Expr convertedElement(mlir::Operation *op, Expr x);
/// x read as an unsigned integer.
Expr asUnsigned(Expr x);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_ARITH_H
