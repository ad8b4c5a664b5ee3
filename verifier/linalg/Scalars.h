//===- Scalars.h - Running scalar operations --------------------*- C++ -*-===//

#ifndef MLC_VERIFIER_LINALG_SCALARS_H
#define MLC_VERIFIER_LINALG_SCALARS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"
#include "verifier/linalg/Values.h"
#include <functional>

namespace mlc::interpret {

/// The result of an operation on its scalar operands. It is meaningless if the
/// operation ends the run.
using ScalarFn = std::function<Scalar(llvm::ArrayRef<Scalar>)>;
using TensorOf = llvm::function_ref<TensorRef(mlir::Value)>;

/// Null for operations that are unknown or not scalar. The function must not
/// outlive `run`.
ScalarFn scalarFunction(mlir::Operation *op, TensorOf tensorOf, Run &run);

/// The number in an attribute; no number if the attribute has another kind.
Scalar numberOf(mlir::Attribute value);

/// An affine expression at integers; ends the run and returns nullopt if it
/// divides by a number that is not positive or overflows 64 bits.
std::optional<int64_t> evaluate(mlir::AffineExpr expr,
                                llvm::ArrayRef<int64_t> dims,
                                llvm::ArrayRef<int64_t> symbols, Run &run);

// Parts of it.
ScalarFn floatFunction(mlir::Operation *op, Run &run);
ScalarFn integerFunction(mlir::Operation *op, Run &run);
ScalarFn conversion(mlir::Operation *op, Run &run);

/// Bits of an integer type; 64 of an index.
unsigned widthOf(mlir::Type type);

} // namespace mlc::interpret

#endif // MLC_VERIFIER_LINALG_SCALARS_H
