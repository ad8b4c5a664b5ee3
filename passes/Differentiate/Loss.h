//===- Loss.h - The number that training makes small ------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_LOSS_H
#define MLC_PASSES_DIFFERENTIATE_LOSS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Differentiate/TrainingOptions.h"

namespace mlc {

/// The type of the target for a loss of `output`; null if there is no target
/// (LossKind::Output). Fails, with an error at `loc`, if the output does not
/// allow this loss. `axis` is the class axis, less than the rank.
mlir::FailureOr<mlir::RankedTensorType>
targetTypeOf(LossKind kind, mlir::Location loc, mlir::RankedTensorType output,
             unsigned axis);

/// The loss, a tensor without dims. `target` has targetTypeOf, or is null.
/// `count`, of the loss's type, is how many labels count; null to count them
/// here.
mlir::FailureOr<mlir::Value> createLoss(mlir::OpBuilder &builder,
                                        mlir::Location loc, LossKind kind,
                                        mlir::Value output, mlir::Value target,
                                        unsigned axis, mlir::Value count = {});

/// For LossKind::CrossEntropy: how many labels name the class with the largest
/// output, the first on a tie; a tensor without dims, of the output's type.
mlir::FailureOr<mlir::Value>
createRightCount(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value output, mlir::Value target, unsigned axis);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_LOSS_H
