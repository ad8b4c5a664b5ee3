//===- Differentiate.h - Gradients of what a function computes --*- C++ -*-===//
//
// Reverse accumulation: from the last operator to the first, each gives its
// operands their share of its results' cotangents. An operator's share is its
// definition's reverse derivative (dialects/Interfaces/Adjoint.h), or operators
// that are better (Rules.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
#define MLC_PASSES_DIFFERENTIATE_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// A value and its cotangent: the gradient is that of sum <cotangent, value>.
struct Seed {
  mlir::Value value, cotangent;
};

/// The gradients with respect to `wanted`, tensors of floats of one block, by
/// operators at `builder`'s place, which all seeds come before. What no seed
/// depends on has a gradient of zeros. Fails, with an error at the operator,
/// where one has no gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
differentiate(mlir::OpBuilder &builder, llvm::ArrayRef<Seed> seeds,
              mlir::ValueRange wanted);

/// The function NAME_gradient, behind `function`: of its arguments and then the
/// cotangents of its results of floats, in order, to the gradients of its
/// arguments of floats, in order.
mlir::FailureOr<mlir::func::FuncOp> addGradient(mlir::func::FuncOp function);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
