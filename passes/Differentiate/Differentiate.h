//===- Differentiate.h - Gradients of functions -----------------*- C++ -*-===//
//
// Reverse accumulation: from the last operator to the first, each gives its
// operands their share of its results' cotangents. The share comes from the
// reverse derivative of its definition (dialects/Derivative/Adjoint.h), or from
// better operators (Rules.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
#define MLC_PASSES_DIFFERENTIATE_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// A value and its cotangent; the gradient is that of sum <cotangent, value>.
struct Seed {
  mlir::Value value, cotangent;
};

/// The gradients with respect to `wanted`, float tensors of one block.
/// Operators are inserted at `builder`'s place, after all seeds. A tensor that
/// no seed depends on gets a gradient of zeros. Fails, with an error at the
/// operator, if one has no gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
differentiate(mlir::OpBuilder &builder, llvm::ArrayRef<Seed> seeds,
              mlir::ValueRange wanted);

/// Adds the function NAME_gradient after `function`. It takes the arguments and
/// then the cotangents of the float results, in order, and returns the
/// gradients of the float arguments, in order.
mlir::FailureOr<mlir::func::FuncOp> addGradient(mlir::func::FuncOp function);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
