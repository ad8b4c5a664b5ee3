//===- Precision.h - Training with 16-bit floats ----------------*- C++ -*-===//
//
// Mixed precision as in Micikevicius et al. 2018: matrix products have 16-bit
// factors, weights are kept and updated in float32, and the loss's cotangent is
// scaled up so that small gradients are not lost in float16.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_PRECISION_H
#define MLC_PASSES_DIFFERENTIATE_PRECISION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Differentiate/TrainingOptions.h"

namespace mlc {

/// Rounds the factors of all matrix products and convolutions of float32
/// tensors to `type`, and their results.
mlir::LogicalResult narrowProducts(mlir::func::FuncOp function,
                                   FactorType type);

/// float32 for 16-bit floats; other types unchanged.
mlir::Type widenedType(mlir::Type type);

/// Makes parameters of 16-bit floats float32, rounded before each read. Their
/// contents (kParameterAttr) stay unchanged.
mlir::LogicalResult widenParameters(mlir::func::FuncOp function);

/// `value`, a tensor, cast to elements of `type`.
mlir::FailureOr<mlir::Value> createCast(mlir::OpBuilder &builder,
                                        mlir::Location loc, mlir::Value value,
                                        mlir::Type type);

/// `value` divided by `scale`, a tensor without dims.
mlir::FailureOr<mlir::Value> createUnscaled(mlir::OpBuilder &builder,
                                            mlir::Location loc,
                                            mlir::Value value,
                                            mlir::Value scale);

/// 1 if all elements of all `values`, float tensors of one type, are finite,
/// else 0; a tensor without dims.
mlir::FailureOr<mlir::Value> createIsFinite(mlir::OpBuilder &builder,
                                            mlir::Location loc,
                                            mlir::ValueRange values);

/// `after` where `condition`, a tensor without dims, is not 0, else `before`.
mlir::FailureOr<mlir::Value>
createChoice(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::Value condition, mlir::Value after, mlir::Value before);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_PRECISION_H
