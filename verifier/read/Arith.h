//===- Arith.h - What operations of arith and math compute ------*- C++ -*-===//
//
// Upstream's integers have no sign: an operation says how it reads them. In an
// `Expr` the type says it, so what is unsigned is computed on `ui<n>` and read
// back. Signed, the i1 `true` is -1. What may be poison where the operation as
// such is not (nsw, exact, fast-math flags), what depends on bits (bitcast) and
// what no Expr says exactly (shifts by a variable) is not read at all.
//
// A division that overflows is undefined like one by zero: its divisor is 0
// then.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_ARITH_H
#define MLC_VERIFIER_READ_ARITH_H

#include "dialects/Interfaces/Definition.h"
#include "mlir/IR/Operation.h"

namespace mlc::verifier {

/// Whether elements of this type can be computed with: floats of 16, 32 and 64
/// bits, integers of 1, 8, 16, 32 and 64 without sign, index.
bool isScalarType(mlir::Type type);

/// Whether attributes of an operation promise something of its operands, or ask
/// for another rounding.
bool hasPromises(mlir::Operation *op);

/// The number in an attribute, as an element.
Expr numberOf(mlir::Type type, mlir::Attribute value);

/// What an operation of arith or math with one result computes of its operands;
/// null where that is not known exactly.
Expr elementOf(mlir::Operation *op, llvm::ArrayRef<Expr> operands);

// Parts of it.
Expr integerElement(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
Expr convertedElement(mlir::Operation *op, Expr x);
/// x read as an unsigned integer.
Expr asUnsigned(Expr x);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_ARITH_H
