//===- Loss.h - The number that training makes small ------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_LOSS_H
#define MLC_PASSES_DIFFERENTIATE_LOSS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Differentiate/TrainingOptions.h"

namespace mlc {

/// What the target of a loss of `output` is; null where there is none
/// (LossKind::Output). Fails, with an error at `loc`, where the output is none
/// that has this loss. `axis` is that of the classes, less than the rank.
mlir::FailureOr<mlir::RankedTensorType>
targetTypeOf(LossKind kind, mlir::Location loc, mlir::RankedTensorType output,
             unsigned axis);

/// The loss, a tensor without dims. `target` is of targetTypeOf, or null.
/// `count`, of the loss's type, is how many labels count, where that is not to
/// be counted here; else null.
mlir::FailureOr<mlir::Value> createLoss(mlir::OpBuilder &builder,
                                        mlir::Location loc, LossKind kind,
                                        mlir::Value output, mlir::Value target,
                                        unsigned axis, mlir::Value count = {});

/// Of LossKind::CrossEntropy: how many labels name the class whose output is
/// the largest, the first of several; a tensor without dims, of the output's
/// type.
mlir::FailureOr<mlir::Value>
createRightCount(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value output, mlir::Value target, unsigned axis);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_LOSS_H
